package dev.llmresilience.engine;

import java.util.concurrent.Callable;

import dev.llmresilience.LlmResilience;

/**
 * The programmatic way to make protected calls. Thread-safe.
 */
public final class DefaultLlmResilience implements LlmResilience {

	private final Providers providers;

	private final BlockingDriver driver;

	/**
	 * Creates it.
	 * @param providers the provider entries
	 * @param driver makes the calls
	 */
	public DefaultLlmResilience(Providers providers, BlockingDriver driver) {
		this.providers = providers;
		this.driver = driver;
	}

	@Override
	public <T> T call(String provider, Callable<T> callable) throws Exception {
		Provider entry = this.providers.use(provider);
		try {
			return this.driver.call(entry, entry.options(), callable::call, null);
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void setRequestsPerMinute(String provider, double requestsPerMinute) {
		this.providers.setRequestsPerMinute(provider, requestsPerMinute);
	}

}
