package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.LlmCall;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.breaker.CircuitBreaker;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Thousands of streams at once, on real threads, that break, fall silent or are too slow
 * to begin, and whose subscribers ask and leave at any moment. Whatever happens, each one
 * sees one whole answer or one error, and nothing is kept.
 */
class ReactiveDriverStressTests {

	private static final int CALLS = 8000;

	private static final int BUDGET = 1_000_000;

	private final SystemTimeSource time = new SystemTimeSource();

	private final ScheduledExecutorService network = Executors.newScheduledThreadPool(3);

	@AfterEach
	void end() {
		this.network.shutdownNow();
		this.time.close();
	}

	private Provider provider() {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		RetryPolicy policy = RetryPolicy.DEFAULTS.withAttempts(2, 2)
			.withBackoff(Jitter.FULL, Duration.ofMillis(4), Duration.ofMillis(8))
			.withRetryAfter(Duration.ZERO, Duration.ofMinutes(1));
		LimiterSettings limiter = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
			.withRate(1_200_000.0, 100)
			.withMaxConcurrentCalls(100);
		ProviderSettings settings = new ProviderSettings("p", defaults.type(), "p", List.of(), policy,
				CallSettings.DEFAULTS.withStreamTimeouts(Duration.ofMillis(5), Duration.ofMillis(6)), limiter, null,
				new BudgetSettings(BUDGET, 0, 0), Simulation.threshold(Integer.MAX_VALUE), defaults.quotaCoolDown());
		return new Providers(List.of(settings), this.time, GuardListener.NONE).get("p");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void everySubscriberSeesOneAnswerAndNothingIsKept(boolean resets) {
		Provider provider = provider();
		ReactiveDriver driver = new ReactiveDriver(new CallEngine(this.time, SimulatedProvider.classifier(true)));
		CallPlan plan = CallPlan.of(provider, provider.options());
		List<StressStream> streams = new ArrayList<>();
		for (int i = 0; i < CALLS; i++) {
			StressStream stream = new StressStream(new SplittableRandom(i));
			Flux<?> calls = resets ? driver.stream(plan, stream::attempt, null)
					: driver.flux(plan, null, 0, stream::attempt, null);
			stream.subscribe(calls);
			streams.add(stream);
		}
		Awaitility.await()
			.pollInterval(Duration.ofMillis(20))
			.atMost(Duration.ofSeconds(60))
			.until(() -> streams.stream().allMatch(StressStream::isOver));
		Awaitility.await().pollInterval(Duration.ofMillis(5)).untilAsserted(() -> {
			assertThat(provider.limiter().inFlight()).isZero();
			assertThat(provider.limiter().waiting()).isZero();
		});
		assertThat(streams.stream().map(StressStream::complaint).filter(Objects::nonNull)).isEmpty();
		assertThat(streams.stream().filter((stream) -> stream.completed).count()).isGreaterThan(CALLS / 10);
		assertThat(streams.stream().filter((stream) -> stream.failure != null).count()).isGreaterThan(CALLS / 50);
		assertThat(streams.stream().filter((stream) -> stream.left).count()).isGreaterThan(CALLS / 10);
		CircuitBreaker breaker = Objects.requireNonNull(provider.breaker());
		assertThat(breaker.snapshot().trialInFlight()).isFalse();
		int retries = streams.stream().mapToInt((stream) -> Math.max(0, stream.attempts.get() - 1)).sum();
		assertThat(Objects.requireNonNull(provider.budget()).tokens()).isBetween((double) BUDGET - retries,
				(double) BUDGET);
	}

	/**
	 * An element of an answer.
	 *
	 * @param attempt which attempt it is of
	 * @param index its index, from 0
	 * @param of how many there are
	 */
	private record Element(int attempt, int index, int of) {
	}

	/** A stream whose attempts and subscriber do what chance wants. */
	private final class StressStream extends BaseSubscriber<Object> {

		private final SplittableRandom random;

		private final int pattern;

		private final AtomicInteger attempts = new AtomicInteger();

		private final CountDownLatch over = new CountDownLatch(1);

		private final AtomicInteger inside = new AtomicInteger();

		/** What came after the last reset. */
		private final List<Element> elements = new ArrayList<>();

		private int resetTo;

		private boolean completed;

		private @Nullable Throwable failure;

		private volatile boolean left;

		private @Nullable String complaint;

		StressStream(SplittableRandom random) {
			this.random = random;
			this.pattern = random.nextInt(3);
		}

		void subscribe(Flux<?> calls) {
			boolean leaves = this.random.nextInt(100) < 30;
			long after = this.random.nextLong(20_000_000);
			calls.subscribe(this);
			if (leaves) {
				Future<?> unused = ReactiveDriverStressTests.this.network.schedule(() -> {
					this.left = true;
					cancel();
					this.over.countDown();
				}, after, TimeUnit.NANOSECONDS);
			}
		}

		Flux<Element> attempt() {
			int attempt = Objects.requireNonNull(LlmCall.current()).attempt();
			this.attempts.incrementAndGet();
			SplittableRandom chance = this.random.split();
			int of = chance.nextInt(6);
			int breaksAt = (chance.nextInt(3) == 0) ? chance.nextInt(of + 1) : -1;
			boolean falls = chance.nextInt(20) == 0;
			return Flux.create((sink) -> emit(sink, chance, new Element(attempt, 0, of), breaksAt, falls));
		}

		/** Emits what is due by itself or later, on some thread. */
		private void emit(FluxSink<Element> sink, SplittableRandom chance, Element next, int breaksAt, boolean falls) {
			if (chance.nextBoolean()) {
				emitNow(sink, chance, next, breaksAt, falls);
				return;
			}
			long delay = chance.nextLong(chance.nextInt(10) == 0 ? 9_000_000 : 1_000_000);
			Future<?> unused = ReactiveDriverStressTests.this.network
				.schedule(() -> emitNow(sink, chance, next, breaksAt, falls), delay, TimeUnit.NANOSECONDS);
		}

		private void emitNow(FluxSink<Element> sink, SplittableRandom chance, Element next, int breaksAt,
				boolean falls) {
			if (next.index() == breaksAt) {
				sink.error(new StatusException(500, null));
			}
			else if (next.index() == next.of()) {
				sink.complete();
			}
			else if (!falls || next.index() < 2) {
				sink.next(next);
				emit(sink, chance, new Element(next.attempt(), next.index() + 1, next.of()), breaksAt, falls);
			}
		}

		@Override
		protected void hookOnSubscribe(Subscription subscription) {
			request((this.pattern == 0) ? Long.MAX_VALUE : 1);
		}

		@Override
		protected void hookOnNext(Object value) {
			enter("an element");
			if (value instanceof StreamEvent.Reset<?> reset) {
				this.elements.clear();
				this.resetTo = reset.attempt();
			}
			else {
				this.elements.add((Element) ((value instanceof StreamEvent.Item<?> item) ? item.value() : value));
			}
			leave();
			if (this.pattern == 1) {
				request(1);
			}
			else if (this.pattern == 2) {
				ReactiveDriverStressTests.this.network.execute(() -> request(1));
			}
		}

		@Override
		protected void hookOnComplete() {
			enter("the end");
			this.completed = true;
			leave();
			this.over.countDown();
		}

		@Override
		protected void hookOnError(Throwable throwable) {
			enter("an error");
			this.failure = throwable;
			leave();
			this.over.countDown();
		}

		private void enter(String what) {
			if (this.inside.incrementAndGet() != 1) {
				this.complaint = what + " came at the same time as something else";
			}
			if (this.completed || this.failure != null) {
				this.complaint = what + " came after the end";
			}
		}

		private void leave() {
			this.inside.decrementAndGet();
		}

		boolean isOver() {
			return this.over.getCount() == 0;
		}

		@Nullable String complaint() {
			for (int i = 0; i < this.elements.size(); i++) {
				Element element = this.elements.get(i);
				if (element.index() != i || element.attempt() != this.elements.get(0).attempt()) {
					return "gaps or repeats: " + this.elements;
				}
				if (element.attempt() < this.resetTo) {
					return "came after the reset to " + this.resetTo + ": " + this.elements;
				}
			}
			if (this.completed && !this.elements.isEmpty() && this.elements.size() != this.elements.get(0).of()) {
				return "completed too early: " + this.elements;
			}
			Throwable failure = this.failure;
			if (failure != null && !(failure instanceof StatusException)
					&& !(failure instanceof AttemptTimeoutException)) {
				return "failed with " + failure;
			}
			return this.complaint;
		}

	}

}
