package dev.llmresilience.benchmarks;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import dev.llmresilience.Priority;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.time.SystemTimeSource;
import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What the limiter costs a call that need not wait: with one, two and three things
 * limited, beside the least that can be done, which is to read the clock and to change
 * one number for each of them by compare-and-set, and beside the limiters of
 * Resilience4j, Guava and Bucket4j. Run it with {@code -prof gc} for the bytes, and with
 * {@code -t 2} for two threads that share a limiter.
 * <p>
 * Two threads that do nothing else fall into one of two rhythms and keep it: each many
 * times in a row while the other waits, or by turns, which takes two to five times as
 * long. Chance decides for each process, hence the many short ones.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(16)
public class LimiterBenchmark {

	/** A call takes a nanosecond's worth of each limit, and a call takes longer. */
	private static final double CALLS_PER_MINUTE = 6e10;

	private static final int BURST = 2_000_000_000;

	private static final long TOKENS = 1000;

	private final SystemTimeSource time = new SystemTimeSource();

	private final RateLimiter one = limiter(TokenLimits.NONE, false);

	private final RateLimiter two = limiter(tokens(), false);

	private final RateLimiter three = limiter(tokens(), true);

	private final TokenUsage usage = new TokenUsage(TOKENS - 100, 100);

	private final Counter calls = new Counter();

	private final Counter tokens = new Counter();

	private final Counter places = new Counter();

	private final AtomicRateLimiter resilience4j = new AtomicRateLimiter("peer",
			RateLimiterConfig.custom()
				.limitForPeriod(1_000_000_000)
				.limitRefreshPeriod(Duration.ofSeconds(1))
				.timeoutDuration(Duration.ZERO)
				.build());

	@SuppressWarnings("UnstableApiUsage")
	private final com.google.common.util.concurrent.RateLimiter guava = com.google.common.util.concurrent.RateLimiter
		.create(1e9);

	private final Bucket bucket4j = Bucket.builder()
		.addLimit((limit) -> limit.capacity(BURST).refillGreedy(1_000_000_000, Duration.ofSeconds(1)))
		.build();

	private RateLimiter limiter(TokenLimits tokens, boolean places) {
		LimiterSettings settings = LimiterSettings.DEFAULTS.withRate(CALLS_PER_MINUTE, BURST)
			.withTokens(tokens)
			.withMaxConcurrentCalls(places ? 1000 : null);
		return new RateLimiter(settings, this.time);
	}

	private static TokenLimits tokens() {
		return new TokenLimits(CALLS_PER_MINUTE * TOKENS, null, null, null);
	}

	/**
	 * Ends the timers.
	 */
	@TearDown
	public void close() {
		this.time.close();
	}

	/**
	 * The clock alone.
	 * @return the clock
	 */
	@Benchmark
	public long clock() {
		return System.nanoTime();
	}

	/**
	 * The least for a limit on calls.
	 * @return the clock
	 */
	@Benchmark
	public long baseline1() {
		long now = System.nanoTime();
		this.calls.add(1);
		return now;
	}

	/**
	 * The least for limits on calls and tokens.
	 * @return the clock
	 */
	@Benchmark
	public long baseline2() {
		long now = System.nanoTime();
		this.calls.add(1);
		this.tokens.add(TOKENS);
		return now;
	}

	/**
	 * The least for limits on calls, tokens and calls in flight. The place is given back,
	 * or there would soon be none.
	 * @return the clock
	 */
	@Benchmark
	public long baseline3() {
		long now = System.nanoTime();
		this.calls.add(1);
		this.tokens.add(TOKENS);
		this.places.add(1);
		this.places.add(-1);
		return now;
	}

	/**
	 * A limit on calls.
	 * @param call the caller
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean ours1(Caller call) {
		return granted(this.one.tryAcquire(call.permit, this.time.nanoTime()));
	}

	/**
	 * Limits on calls and tokens.
	 * @param call the caller
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean ours2(Caller call) {
		return granted(this.two.tryAcquire(call.permit, this.time.nanoTime()));
	}

	/**
	 * Limits on calls, tokens and calls in flight. A call that ends without a word about
	 * its tokens gives its place back.
	 * @param call the caller
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean ours3(Caller call) {
		boolean granted = this.three.tryAcquire(call.permit, this.time.nanoTime());
		this.three.onSuccess(call.permit, null);
		return granted(granted);
	}

	/**
	 * A whole call with a limit on calls.
	 * @param call the caller
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean cycle1(Caller call) {
		return cycle(this.one, call.permit);
	}

	/**
	 * A whole call with limits on calls and tokens.
	 * @param call the caller
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean cycle2(Caller call) {
		return cycle(this.two, call.permit);
	}

	/**
	 * A whole call with limits on calls, tokens and calls in flight.
	 * @param call the caller
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean cycle3(Caller call) {
		return cycle(this.three, call.permit);
	}

	private boolean cycle(RateLimiter limiter, Permit permit) {
		long now = this.time.nanoTime();
		boolean granted = limiter.tryAcquire(permit, now);
		limiter.onSend(permit, now);
		limiter.onSuccess(permit, this.usage);
		return granted(granted);
	}

	/**
	 * Resilience4j's limiter.
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean resilience4j() {
		return granted(this.resilience4j.acquirePermission(1));
	}

	/**
	 * Guava's limiter.
	 * @return whether the call may leave, which it refuses once in a while
	 */
	@Benchmark
	@SuppressWarnings("UnstableApiUsage")
	public boolean guava() {
		return this.guava.tryAcquire();
	}

	/**
	 * Bucket4j's bucket.
	 * @return whether the call may leave
	 */
	@Benchmark
	public boolean bucket4j() {
		return granted(this.bucket4j.tryConsume(1));
	}

	/** A refusal would be another path than the one that is measured. */
	private static boolean granted(boolean granted) {
		if (!granted) {
			throw new IllegalStateException("Refused");
		}
		return true;
	}

	/**
	 * One caller, whose calls come one after another.
	 */
	@State(Scope.Thread)
	public static class Caller {

		private final Permit permit = new Permit("caller", Priority.NORMAL, TOKENS, false, System.nanoTime());

	}

	/** A number that is changed the way a bucket is. */
	private static final class Counter {

		private final AtomicLong value = new AtomicLong();

		void add(long change) {
			long seen = this.value.get();
			while (!this.value.compareAndSet(seen, seen + change)) {
				seen = this.value.get();
			}
		}

	}

}
