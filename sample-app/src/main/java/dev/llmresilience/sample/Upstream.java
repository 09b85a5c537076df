package dev.llmresilience.sample;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import dev.llmresilience.sample.provider.Account;
import dev.llmresilience.sample.provider.Counts;
import dev.llmresilience.sample.provider.Traffic;
import okhttp3.Interceptor;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * Whom a model calls: the embedded provider or, where the account is {@code null}, the
 * real one, whose traffic is counted on its way out.
 *
 * @param name the provider's name
 * @param account the account at the embedded provider
 * @param wire what went out
 */
public record Upstream(String name, @Nullable Account account, Traffic wire) implements Interceptor {

	private static final Duration MARGIN = Duration.ofMillis(100);

	/**
	 * Creates an upstream that has not been called yet.
	 * @param name the provider's name
	 * @param account the account at the embedded provider, {@code null} for the real one
	 */
	Upstream(String name, @Nullable Account account) {
		this(name, account, new Traffic(System::nanoTime));
	}

	/**
	 * What arrived at the provider or, where it is the real one, was sent to it.
	 * @return the counts
	 */
	public Counts counts() {
		return (this.account != null) ? this.account.counts() : this.wire.counts();
	}

	/**
	 * Starts counting from zero.
	 */
	public void resetCounts() {
		this.wire.reset();
		if (this.account != null) {
			this.account.resetCounts();
		}
	}

	/**
	 * Waits until the buckets on both sides are full, the provider's and those that the
	 * application keeps of them: the requests', had it been empty when the last request
	 * arrived, and the tokens'. Otherwise a burst soon after another would be measured
	 * against what the first has left over.
	 * @throws InterruptedException if the thread is interrupted
	 */
	public void awaitFullBuckets() throws InterruptedException {
		Long lastArrival = counts().lastArrival();
		if (this.account == null || lastArrival == null) {
			return;
		}
		long refill = (long) (this.account.limits().refillSeconds() * 1e9) + MARGIN.toNanos();
		long untilFull = this.account.untilFull().plus(MARGIN).toNanos();
		// The provider is another party, whose buckets refill in real time.
		TimeUnit.NANOSECONDS.sleep(Math.max(lastArrival + refill - System.nanoTime(), untilFull));
	}

	@Override
	public Response intercept(Chain chain) throws IOException {
		this.wire.arrival();
		Response response = chain.proceed(chain.request());
		this.wire.answer(response.code());
		return response;
	}

}
