package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.LlmCall;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.time.SystemTimeSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ten thousand futures at once, on real threads, whose attempts fail and whose callers go
 * away at any moment: each completes once, and whatever was taken is back.
 */
class FutureDriverStressTests {

	private static final int CALLS = 10_000;

	private static final int BUDGET = 1_000_000;

	private static final BreakerSettings CALM = Simulation.threshold(Integer.MAX_VALUE);

	private final SystemTimeSource time = new SystemTimeSource();

	private final ScheduledExecutorService network = Executors.newScheduledThreadPool(2);

	private final ExecutorService callers = Executors.newFixedThreadPool(4);

	@AfterEach
	void end() {
		this.callers.shutdownNow();
		this.network.shutdownNow();
		this.time.close();
	}

	private Provider provider(BreakerSettings breaker) {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		RetryPolicy policy = RetryPolicy.DEFAULTS.withAttempts(4, 4)
			.withBackoff(Jitter.FULL, Duration.ofMillis(4), Duration.ofMillis(8))
			.withRetryAfter(Duration.ZERO, Duration.ofMinutes(1));
		LimiterSettings limiter = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
			.withRate(1_200_000.0, 100)
			.withMaxConcurrentCalls(60);
		ProviderSettings settings = new ProviderSettings("p", defaults.type(), "p", List.of(), policy,
				CallSettings.DEFAULTS, limiter, null, new BudgetSettings(BUDGET, 0, 0), breaker,
				defaults.quotaCoolDown());
		return new Providers(List.of(settings), this.time, GuardListener.NONE).get("p");
	}

	/** Outcome and cancellation of one call are never at the same moment. */
	@Test
	void theBudgetIsShortOfExactlyTheRetriesThatWereMade() throws Exception {
		Provider provider = provider(CALM);
		List<StressCall> calls = storm(provider, false);
		int made = calls.stream().mapToInt(StressCall::paidRetries).sum();
		assertThat(made).isGreaterThan(1000);
		assertThat(Objects.requireNonNull(provider.budget()).tokens()).isEqualTo(BUDGET - made);
	}

	/** And now they are, and some attempts go on after they were given up. */
	@Test
	void everyCallCompletesOnceAndNothingIsKept() throws Exception {
		Provider provider = provider(CALM);
		List<StressCall> calls = storm(provider, true);
		int most = calls.stream().mapToInt(StressCall::paidRetries).sum();
		int doubtful = (int) calls.stream().filter(StressCall::endsWithDoubtfulRetry).count();
		assertThat(Objects.requireNonNull(provider.budget()).tokens()).isBetween((double) BUDGET - most,
				(double) BUDGET - most + doubtful);
		assertThat(calls.stream().filter((call) -> call.failure instanceof CancellationException).count())
			.isGreaterThan(CALLS / 10);
		assertThat(calls.stream().filter((call) -> call.failure == null).count()).isGreaterThan(CALLS / 10);
	}

	/** Two failures open it, and a moment later somebody is the trial. */
	@Test
	void aBreakerThatOpensAllTheTimeNeverLosesItsTrial() throws Exception {
		BreakerSettings d = BreakerSettings.DEFAULTS;
		Provider provider = provider(new BreakerSettings(2, null, d.windowSize(), null, Duration.ofNanos(100_000),
				Duration.ofNanos(100_000), Duration.ofMinutes(5)));
		List<StressCall> calls = storm(provider, true);
		assertThat(calls.stream().filter((call) -> call.failure instanceof CircuitOpenException).count())
			.isGreaterThan(CALLS / 100);
	}

	private List<StressCall> storm(Provider provider, boolean racing) throws Exception {
		FutureDriver driver = new FutureDriver(new CallEngine(this.time, SimulatedProvider.classifier(true)));
		CallPlan plan = CallPlan.of(provider, provider.options());
		List<Future<List<StressCall>>> running = new ArrayList<>();
		for (int caller = 0; caller < 4; caller++) {
			SplittableRandom random = new SplittableRandom(caller);
			running.add(this.callers.submit(() -> {
				List<StressCall> begun = new ArrayList<>();
				for (int i = 0; i < CALLS / 4; i++) {
					StressCall call = new StressCall(random.split(), racing);
					call.begin(driver, plan);
					begun.add(call);
				}
				return begun;
			}));
		}
		List<StressCall> calls = new ArrayList<>();
		for (Future<List<StressCall>> some : running) {
			calls.addAll(some.get(60, TimeUnit.SECONDS));
		}
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.atMost(Duration.ofSeconds(60))
			.until(() -> calls.stream().allMatch((call) -> call.completions.get() > 0));
		assertThatNothingIsKept(provider);
		// Late outcomes, of attempts that could not be cancelled, change nothing.
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.until(() -> calls.stream().allMatch(StressCall::isQuiet));
		assertThatNothingIsKept(provider);
		assertThat(calls).hasSize(CALLS)
			.allSatisfy((call) -> assertThat(call.completions).as("completions").hasValue(1))
			.allSatisfy((call) -> assertThat(call.failure).satisfiesAnyOf((failure) -> assertThat(failure).isNull(),
					(failure) -> assertThat(failure).isInstanceOfAny(StatusException.class, CancellationException.class,
							CircuitOpenException.class)));
		CompletableFuture<String> next = driver.call(plan, null, 0, () -> CompletableFuture.completedFuture("answer"),
				null);
		assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo("answer");
		return calls;
	}

	/** Whoever cancels has done so before everything is given back. */
	private static void assertThatNothingIsKept(Provider provider) {
		Awaitility.await().pollInterval(Duration.ofMillis(5)).untilAsserted(() -> {
			assertThat(provider.limiter().inFlight()).isZero();
			assertThat(provider.limiter().waiting()).isZero();
			assertThat(Objects.requireNonNull(provider.breaker()).snapshot().trialInFlight()).isFalse();
		});
	}

	/** A call whose attempts and caller do what chance wants. */
	private final class StressCall {

		private final SplittableRandom random;

		private final boolean racing;

		/** Keeps outcome and cancellation apart, unless they are to race. */
		private final ReentrantLock lock = new ReentrantLock();

		private final List<CompletableFuture<String>> attempts = new ArrayList<>();

		private final AtomicInteger completions = new AtomicInteger();

		private @Nullable CompletableFuture<String> result;

		private volatile @Nullable Throwable failure;

		private boolean lastFailureSpends;

		private int paid;

		private boolean lastPaid;

		private boolean lastCounts;

		StressCall(SplittableRandom random, boolean racing) {
			this.random = random;
			this.racing = racing;
		}

		void begin(FutureDriver driver, CallPlan plan) {
			boolean leaves = this.random.nextInt(100) < 40;
			long after = this.random.nextLong(30_000_000);
			CompletableFuture<String> result = driver.call(plan, null, 0, this::attempt, null);
			this.result = result;
			result.whenComplete((value, thrown) -> {
				this.failure = thrown;
				this.completions.incrementAndGet();
			}).isDone();
			if (leaves) {
				Future<?> unused = FutureDriverStressTests.this.network.schedule(() -> apart(() -> result.cancel(true)),
						after, TimeUnit.NANOSECONDS);
			}
		}

		private void apart(Runnable action) {
			if (this.racing) {
				action.run();
				return;
			}
			this.lock.lock();
			try {
				action.run();
			}
			finally {
				this.lock.unlock();
			}
		}

		private CompletionStage<String> attempt() {
			this.lock.lock();
			try {
				this.lastPaid = Objects.requireNonNull(LlmCall.current()).attempt() > 1 && this.lastFailureSpends;
				this.lastCounts = false;
				if (this.lastPaid) {
					this.paid++;
				}
				CompletableFuture<String> attempt = new CompletableFuture<>();
				this.attempts.add(attempt);
				int outcome = this.random.nextInt(10);
				if (this.racing && this.random.nextInt(4) == 0) {
					end(attempt, outcome);
				}
				else {
					later(attempt, outcome, this.random.nextLong(3_000_000));
				}
				return (this.racing && this.random.nextBoolean()) ? attempt.minimalCompletionStage() : attempt;
			}
			finally {
				this.lock.unlock();
			}
		}

		private void later(CompletableFuture<String> attempt, int outcome, long nanos) {
			Future<?> unused = FutureDriverStressTests.this.network.schedule(() -> {
				if (!this.racing && attempt.getNumberOfDependents() == 0) {
					// The driver does not listen yet.
					later(attempt, outcome, 100_000);
					return;
				}
				apart(() -> end(attempt, outcome));
			}, nanos, TimeUnit.NANOSECONDS);
		}

		private void end(CompletableFuture<String> attempt, int outcome) {
			CompletableFuture<String> result = this.result;
			this.lastCounts = result == null || !result.isDone();
			this.lastFailureSpends = outcome < 4;
			if (outcome < 4) {
				attempt.completeExceptionally(new StatusException(500, null));
			}
			else if (outcome < 6) {
				attempt.completeExceptionally(new StatusException(429, Duration.ofMillis(1)));
			}
			else {
				attempt.complete("answer");
			}
		}

		/** Those that were paid for, made, and not cancelled. */
		int paidRetries() {
			return (!this.racing && this.lastPaid && !this.lastCounts) ? this.paid - 1 : this.paid;
		}

		/** Whose token may have come back, or not. */
		boolean endsWithDoubtfulRetry() {
			return this.lastPaid && this.failure instanceof CancellationException;
		}

		boolean isQuiet() {
			return this.attempts.stream().allMatch(CompletableFuture::isDone);
		}

	}

}
