package dev.llmresilience.engine;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.time.TimeSource;

/**
 * The programmatic way to make protected calls. Thread-safe.
 */
public final class DefaultLlmResilience implements LlmResilience {

	/** A hundred years, in seconds. */
	private static final long LONGEST = 3_155_760_000L;

	private final Providers providers;

	private final BlockingDriver driver;

	private final FutureDriver futures;

	private final TimeSource time;

	/**
	 * Creates it.
	 * @param providers the provider entries
	 * @param driver makes blocking calls
	 * @param futures makes asynchronous ones
	 * @param time the clock of the engine
	 */
	public DefaultLlmResilience(Providers providers, BlockingDriver driver, FutureDriver futures, TimeSource time) {
		this.providers = providers;
		this.driver = driver;
		this.futures = futures;
		this.time = time;
	}

	@Override
	public <T> T call(String provider, Callable<T> callable) throws Exception {
		CallPlan plan = this.providers.plan(provider);
		try {
			return this.driver.call(plan, null, 0, callable::call, null);
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public <T> CompletableFuture<T> callAsync(String provider, Supplier<? extends CompletionStage<T>> supplier) {
		return this.futures.call(this.providers.plan(provider), null, 0, supplier::get, null);
	}

	@Override
	public <T> T withDeadline(Duration timeLeft, Callable<T> task) throws Exception {
		long nanos = timeLeft.isNegative() ? 0
				: Math.min(timeLeft.toSeconds(), LONGEST) * 1_000_000_000 + timeLeft.toNanosPart();
		Long before = Call.bound(this.time.nanoTime() + nanos);
		try {
			return task.call();
		}
		finally {
			Call.restoreBound(before);
		}
	}

	@Override
	public void setRequestsPerMinute(String provider, double requestsPerMinute) {
		this.providers.setRequestsPerMinute(provider, requestsPerMinute);
	}

}
