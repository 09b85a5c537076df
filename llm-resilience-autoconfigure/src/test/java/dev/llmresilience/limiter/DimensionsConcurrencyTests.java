package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.time.SystemTimeSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that want calls, tokens and places at the same moment. The clock stands still
 * unless somebody waits.
 */
class DimensionsConcurrencyTests {

	private static final int THREADS = 4;

	private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

	@AfterEach
	void endThreads() {
		this.executor.shutdownNow();
	}

	/** Estimates of 1,000 tokens cost 1,500, and 600 and more stay as a reserve. */
	@ParameterizedTest
	@CsvSource({ "5, 1000000, 5, 5", "50, 16000, 8, 10", "10, 16000, 8, 10" })
	void noMoreCallsLeaveThanEitherLimitAllows(int burst, double tokensPerMinute, int least, int most)
			throws Exception {
		for (int round = 0; round < 200; round++) {
			RateLimiter limiter = limiter(burst, tokensPerMinute, null);
			AtomicInteger granted = new AtomicInteger();
			inAllThreads(() -> {
				for (int i = 0; i < 20; i++) {
					if (limiter.tryAcquire(permit(), 0)) {
						granted.incrementAndGet();
					}
				}
				return null;
			});
			assertThat(granted.get()).isBetween(0, most);
			// Whoever was refused only because of another's passing attempt tries again.
			while (limiter.tryAcquire(permit(), 0)) {
				granted.incrementAndGet();
			}
			assertThat(granted.get()).isBetween(least, most);
		}
	}

	@Test
	void aRefusalForTokensLeavesTheCallsAsTheyWere() throws Exception {
		RateLimiter limiter = limiter(20, 16_000, null);
		while (limiter.tryAcquire(permit(), 0)) {
			// Until the tokens are gone.
		}
		double level = limiter.level();
		inAllThreads(() -> {
			for (int i = 0; i < 20_000; i++) {
				assertThat(limiter.tryAcquire(permit(), 0)).isFalse();
			}
			return null;
		});
		assertThat(level).isPositive();
		assertThat(limiter.level()).isEqualTo(level);
	}

	@Test
	void noMoreCallsAreInFlightThanThereArePlaces() throws Exception {
		RateLimiter limiter = limiter(1_000_000, 1e12, 3);
		AtomicInteger inFlight = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		inAllThreads(() -> {
			for (int i = 0; i < 20_000; i++) {
				Permit permit = permit();
				if (limiter.tryAcquire(permit, 0)) {
					int now = inFlight.incrementAndGet();
					most.accumulateAndGet(now, Math::max);
					inFlight.decrementAndGet();
					end(limiter, permit, i);
				}
			}
			return null;
		});
		assertThat(most.get()).isBetween(1, 3);
		assertThat(limiter.inFlight()).isZero();
	}

	@Test
	void everybodyWhoWaitsForAPlaceGetsOne() throws Exception {
		try (SystemTimeSource time = new SystemTimeSource()) {
			RateLimiter limiter = new RateLimiter(Callers.FIXED.withMaxConcurrentCalls(2), time);
			inAllThreads(() -> {
				for (int i = 0; i < 2000; i++) {
					Permit permit = permit();
					CountDownLatch told = new CountDownLatch(1);
					long now = time.nanoTime();
					Ticket ticket = limiter.enqueue(permit, now, now + Duration.ofDays(1).toNanos(), false,
							told::countDown);
					if (ticket.state() == State.WAITING) {
						told.await();
					}
					assertThat(ticket.state()).isEqualTo(State.GRANTED);
					end(limiter, permit, i);
				}
				return null;
			});
			assertThat(limiter.waiting()).isZero();
			assertThat(limiter.inFlight()).isZero();
		}
	}

	private static void end(RateLimiter limiter, Permit permit, int i) {
		if (i % 3 == 0) {
			limiter.giveBack(permit);
			return;
		}
		limiter.onSend(permit, 0);
		if (i % 3 == 1) {
			limiter.onSuccess(permit, null);
		}
		else {
			limiter.onFailure(permit, true);
		}
	}

	private static RateLimiter limiter(int burst, double tokensPerMinute, @Nullable Integer places) {
		return new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
			.withRate(60.0, burst)
			.withTokens(new TokenLimits(tokensPerMinute, null, null, null))
			.withMaxConcurrentCalls(places), new SettableTime());
	}

	private static Permit permit() {
		return new Permit("owner", Priority.NORMAL, 1000, false, 0);
	}

	private void inAllThreads(Callable<Object> task) throws Exception {
		List<Future<Object>> running = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			running.add(this.executor.submit(task));
		}
		for (Future<Object> thread : running) {
			thread.get(30, TimeUnit.SECONDS);
		}
	}

}
