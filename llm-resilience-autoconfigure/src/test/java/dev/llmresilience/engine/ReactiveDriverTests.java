package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.StreamEvent.Item;
import dev.llmresilience.StreamEvent.Reset;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.failure.ResultClassifier;
import dev.llmresilience.failure.ResultClassifiers;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls whose attempts are publishers: what a subscriber sees, and what it never sees
 * twice.
 */
class ReactiveDriverTests {

	private final Simulation simulation = new Simulation();

	private int attempts;

	@BeforeEach
	void entry() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(1000));
	}

	@AfterEach
	void end() {
		this.simulation.close();
	}

	private ReactiveDriver driver() {
		return new ReactiveDriver(this.simulation.engine());
	}

	/** Whose attempts go like that, one after the other. */
	private Flux<String> flux(List<Flux<String>> scripts) {
		return driver().flux(this.simulation.plan("p"), null, 0, () -> script(scripts), null);
	}

	private Flux<StreamEvent<String>> stream(@Nullable Mono<String> fallback, List<Flux<String>> scripts) {
		@Nullable Fallback<Mono<String>> given = (fallback != null) ? (failure) -> fallback : null;
		return driver().stream(this.simulation.plan("p"), () -> script(scripts), given);
	}

	private Publisher<String> script(List<Flux<String>> scripts) {
		int attempt = this.attempts++;
		return scripts.get(Math.min(attempt, scripts.size() - 1));
	}

	private static Flux<String> failing(int status) {
		return Flux.error(() -> status(status));
	}

	private static Flux<String> breaking(int status, String... elements) {
		return Flux.just(elements).concatWith(failing(status));
	}

	private void pass(double seconds) {
		this.simulation.time.runFor(Duration.ofMillis((long) (seconds * 1000)));
	}

	@Test
	void nothingHappensBeforeSomebodySubscribes() {
		Flux<String> calls = flux(List.of(Flux.just("a")));
		assertThat(this.attempts).isZero();
		assertThat(subscribe(calls).elements).containsExactly("a");
		assertThat(subscribe(calls).elements).containsExactly("a");
		assertThat(this.attempts).as("each subscription is a call").isEqualTo(2);
	}

	/** Case C64: errors with 503 on subscribing twice, then delivers. */
	@Test
	void aStreamThatFailsToBeginIsRetried() {
		Subscriber<String> subscriber = subscribe(flux(List.of(failing(503), failing(503), Flux.just("a", "b"))));
		pass(3);
		assertThat(subscriber.elements).containsExactly("a", "b");
		assertThat(subscriber.completed).isTrue();
		assertThat(this.attempts).isEqualTo(3);
	}

	/** Case C57. */
	@Test
	void aStreamThatBreaksAfterItsFirstElementFailsOnceAndRepeatsNothing() {
		Subscriber<String> subscriber = subscribe(flux(List.of(breaking(529, "a", "b"), Flux.just("a", "b", "c"))));
		pass(60);
		assertThat(subscriber.elements).containsExactly("a", "b");
		assertThat(subscriber.failures).hasSize(1);
		assertThat(report(subscriber).reason()).isEqualTo(GiveUpReason.STREAM_BROKEN);
		assertThat(report(subscriber).lastKind()).isEqualTo(FailureKind.OVERLOADED);
		assertThat(this.attempts).isEqualTo(1);
	}

	/** Case C59: five streams that each end with an error, threshold five. */
	@Test
	void theBreakerLearnsOfStreamsThatBreak() {
		this.simulation.with("q", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(5));
		Flux<String> calls = driver().flux(this.simulation.plan("q"), null, 0, () -> breaking(529, "a"), null);
		for (int i = 1; i <= 5; i++) {
			assertThat(this.simulation.breaker("q").state()).isEqualTo(BreakerState.CLOSED);
			subscribe(calls);
		}
		assertThat(this.simulation.breaker("q").state()).isEqualTo(BreakerState.OPEN);
	}

	/** Case C61: the error comes as the first element of a 200. */
	@Test
	void anErrorEventBeforeTheFirstElementIsRetried() {
		ResultClassifier errors = (result, context) -> result.equals("error")
				? LlmFailure.of(FailureKind.RATE_LIMITED).withStatus(429) : null;
		CallEngine engine = CallEngine.builder(this.simulation.time, this.simulation.classifier)
			.results(new ResultClassifiers(List.of(errors)))
			.build();
		List<Flux<String>> scripts = List.of(Flux.just("error", "never seen"), Flux.just("a"));
		Subscriber<String> subscriber = subscribe(new ReactiveDriver(engine).flux(this.simulation.plan("p"), null, 0,
				() -> scripts.get(this.attempts++), null));
		pass(60);
		assertThat(subscriber.elements).containsExactly("a");
		assertThat(subscriber.completed).isTrue();
	}

	@Test
	void anEmptyStreamIsAnAnswer() {
		Subscriber<String> subscriber = subscribe(flux(List.of(Flux.empty())));
		assertThat(subscriber.completed).isTrue();
		assertThat(this.attempts).isEqualTo(1);
	}

	@Test
	void theFirstElementHasTheTimeOfAnAttempt() {
		this.simulation.calls = CallSettings.DEFAULTS.withStreamTimeouts(Duration.ofSeconds(2), null);
		this.simulation.with("q", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Subscriber<String> subscriber = subscribe(driver().flux(this.simulation.plan("q"), null, 0,
				() -> (this.attempts++ == 0) ? Flux.never() : Flux.just("a"), null));
		pass(2.9);
		assertThat(this.attempts).isEqualTo(1);
		pass(0.1);
		assertThat(subscriber.elements).containsExactly("a");
	}

	@Test
	void aStreamThatDeliversIsNotCutByTheTimeoutOfTheCall() {
		this.simulation.with("q", Simulation.EXACT.withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(2)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();
		Subscriber<String> subscriber = subscribe(
				driver().flux(this.simulation.plan("q"), null, 0, sink::asFlux, null));
		sink.tryEmitNext("a");
		pass(60);
		sink.tryEmitNext("b");
		sink.tryEmitComplete();
		assertThat(subscriber.elements).containsExactly("a", "b");
		assertThat(subscriber.completed).isTrue();
	}

	@Test
	void aStreamThatFallsSilentWhileElementsAreAskedForFails() {
		Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();
		Subscriber<String> subscriber = subscribe(idle(sink));
		sink.tryEmitNext("a");
		pass(2.9);
		assertThat(subscriber.failures).isEmpty();
		pass(0.1);
		assertThat(subscriber.failures).singleElement().isInstanceOf(AttemptTimeoutException.class);
		assertThat(report(subscriber).lastKind()).isEqualTo(FailureKind.TIMEOUT);
		assertThat(sink.currentSubscriberCount()).isZero();
	}

	@Test
	void silenceDoesNotCountWhileNobodyAsks() {
		Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();
		Subscriber<String> subscriber = new Subscriber<>(1);
		idle(sink).subscribe(subscriber);
		sink.tryEmitNext("a");
		pass(60);
		assertThat(subscriber.failures).isEmpty();
		subscriber.request(1);
		pass(2.9);
		assertThat(subscriber.failures).isEmpty();
		pass(3.1);
		assertThat(subscriber.failures).hasSize(1);
	}

	private Flux<String> idle(Sinks.Many<String> sink) {
		this.simulation.calls = CallSettings.DEFAULTS.withStreamTimeouts(null, Duration.ofSeconds(3));
		this.simulation.with("q", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		return driver().flux(this.simulation.plan("q"), null, 0, sink::asFlux, null);
	}

	@Test
	void theDemandOfTheSubscriberReachesTheAttemptThatServesIt() {
		List<Long> asked = new ArrayList<>();
		Subscriber<String> subscriber = new Subscriber<>(2);
		flux(List.of(failing(500), Flux.range(1, 5).map(Object::toString).doOnRequest(asked::add)))
			.subscribe(subscriber);
		pass(1);
		assertThat(subscriber.elements).containsExactly("1", "2");
		subscriber.request(1);
		assertThat(subscriber.elements).containsExactly("1", "2", "3");
		assertThat(asked).containsExactly(2L, 1L);
	}

	@Test
	void whoCancelsBeforeTheFirstElementCancelsTheCall() {
		boolean[] cancelled = new boolean[1];
		Subscriber<String> subscriber = subscribe(
				flux(List.of(Flux.<String>never().doOnCancel(() -> cancelled[0] = true))));
		subscriber.cancel();
		assertThat(cancelled[0]).isTrue();
		pass(1000);
		assertThat(this.attempts).isEqualTo(1);
	}

	@Test
	void whoCancelsWhileARetryWaitsEndsTheWait() {
		Subscriber<String> subscriber = subscribe(flux(List.of(failing(500))));
		subscriber.cancel();
		pass(60);
		assertThat(this.attempts).isEqualTo(1);
		assertThat(subscriber.failures).isEmpty();
	}

	@Test
	void cancellingAfterAnElementIsASuccess() {
		this.simulation.with("q", Simulation.EXACT, LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1), null,
				Simulation.threshold(1));
		this.simulation.openUntilTrial("q");
		Flux<String> calls = driver().flux(this.simulation.plan("q"), null, 0,
				() -> Flux.just("a").concatWith(Flux.never()), null);
		Subscriber<String> subscriber = subscribe(calls);
		assertThat(this.simulation.breaker("q").state()).as("a trial succeeds at its first element")
			.isEqualTo(BreakerState.CLOSED);
		assertThat(this.simulation.providers().get("q").limiter().inFlight()).isEqualTo(1);
		subscriber.cancel();
		assertThat(this.simulation.providers().get("q").limiter().inFlight()).isZero();
	}

	@Test
	void aSubscriberThatCancelsWithinAnElementGetsNoOther() {
		Subscriber<String> subscriber = new Subscriber<>(Long.MAX_VALUE) {

			@Override
			protected void hookOnNext(String value) {
				super.hookOnNext(value);
				cancel();
			}

		};
		flux(List.of(Flux.just("a", "b", "c"))).subscribe(subscriber);
		assertThat(subscriber.elements).containsExactly("a");
	}

	@Test
	void aResetVoidsWhatCameBefore() {
		Subscriber<StreamEvent<String>> subscriber = subscribe(
				stream(null, List.of(breaking(500, "a", "b"), Flux.just("a", "b", "c"))));
		pass(1);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"), new Item<>("b"), new Reset<>(2),
				new Item<>("a"), new Item<>("b"), new Item<>("c"));
		assertThat(subscriber.completed).isTrue();
	}

	@Test
	void nothingIsResetThatNobodyHasSeen() {
		Subscriber<StreamEvent<String>> subscriber = subscribe(stream(null, List.of(failing(500), Flux.just("a"))));
		pass(1);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"));
	}

	@Test
	void aResetUsesOneOfTheElementsThatWereAskedFor() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(2);
		stream(null, List.of(breaking(500, "a", "b"), Flux.just("c"))).subscribe(subscriber);
		pass(1);
		assertThat(subscriber.elements).hasSize(2);
		subscriber.request(1);
		assertThat(subscriber.elements).endsWith(new Reset<>(2));
		subscriber.request(1);
		assertThat(subscriber.elements).endsWith(new Item<>("c"));
	}

	@Test
	void aStreamThatFailsForGoodMayEndWithACallWithoutStreaming() {
		Subscriber<StreamEvent<String>> subscriber = subscribe(stream(Mono.just("whole"), List.of(breaking(500, "a"))));
		pass(60);
		assertThat(this.attempts).isEqualTo(4);
		assertThat(subscriber.elements).endsWith(new Reset<>(0), new Item<>("whole"));
		assertThat(subscriber.completed).isTrue();
	}

	@Test
	void aMonoIsRetriedUntilItHasItsAnswer() {
		List<Mono<String>> scripts = List.of(Mono.error(status(500)), Mono.just("answer"));
		Subscriber<String> subscriber = subscribe(
				driver().mono(this.simulation.plan("p"), null, 0, () -> scripts.get(this.attempts++), null).flux());
		pass(1);
		assertThat(subscriber.elements).containsExactly("answer");
		assertThat(subscriber.completed).isTrue();
	}

	@Test
	void aMonoFailsWithTheSameObject() {
		Throwable failure = status(400);
		Subscriber<String> subscriber = subscribe(
				driver().<String>mono(this.simulation.plan("p"), null, 0, () -> Mono.error(failure), null).flux());
		assertThat(subscriber.failures).singleElement().isSameAs(failure);
		assertThat(report(subscriber).reason()).isEqualTo(GiveUpReason.NOT_RETRYABLE);
	}

	@Test
	void aMonoIsCancelledWithItsSubscriber() {
		boolean[] cancelled = new boolean[1];
		subscribe(driver()
			.mono(this.simulation.plan("p"), null, 0, () -> Mono.<String>never().doOnCancel(() -> cancelled[0] = true),
					null)
			.flux()).cancel();
		assertThat(cancelled[0]).isTrue();
	}

	@Test
	void aMonoMayFallBack() {
		Subscriber<String> subscriber = subscribe(driver()
			.mono(this.simulation.plan("p"), null, 0, () -> Mono.error(status(401)), (failure) -> Mono.just("fallback"))
			.flux());
		pass(0);
		assertThat(subscriber.elements).containsExactly("fallback");
	}

	@Test
	void aFluxMayFallBackBeforeItsFirstElement() {
		Subscriber<String> subscriber = subscribe(driver().flux(this.simulation.plan("p"), null, 0,
				() -> Flux.error(status(401)), (failure) -> Flux.just("x", "y")));
		pass(0);
		assertThat(subscriber.elements).containsExactly("x", "y");
		assertThat(subscriber.completed).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anotherProviderTakesOver(boolean single) {
		this.simulation.with("q", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		CallPlan plan = this.simulation.plan("p", "q");
		BlockingDriver.Body<Publisher<String>> body = () -> {
			LlmCall call = Objects.requireNonNull(LlmCall.current());
			return call.provider().equals("p") ? Mono.error(status(500)) : Mono.just(call.provider());
		};
		Subscriber<String> subscriber = subscribe(single ? driver().<String>mono(plan, null, 0, body, null).flux()
				: driver().<String>flux(plan, null, 0, body, null));
		pass(60);
		assertThat(subscriber.elements).containsExactly("q");
	}

	@Test
	void theContextOfTheSubscriberReachesTheAttemptAndHoldsTheCall() {
		List<String> seen = new ArrayList<>();
		Flux<String> calls = driver().flux(this.simulation.plan("p"), null, 0, () -> Flux.deferContextual((context) -> {
			seen.add(context.get("mine"));
			return ReactiveLlmResilience.currentCall().map((call) -> call.provider() + call.attempt()).flux();
		}), null);
		Subscriber<String> subscriber = subscribe(calls.contextWrite(Context.of("mine", "context")));
		assertThat(seen).containsExactly("context");
		assertThat(subscriber.elements).containsExactly("p1");
	}

	/** So that the innermost retries, and nobody else. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCallWithinAnotherKnowsThatOnAnyThread(boolean single) {
		CallPlan plan = this.simulation.plan("p");
		BlockingDriver.Body<Flux<String>> attempt = () -> {
			this.attempts++;
			return failing(500);
		};
		Publisher<String> inner = single ? driver().mono(plan, null, 0, attempt, null)
				: driver().flux(plan, null, 0, attempt, null);
		BlockingDriver.Body<Flux<String>> around = () -> later().thenMany(inner);
		Subscriber<String> subscriber = subscribe(single ? driver().mono(plan, null, 0, around, null).flux()
				: driver().flux(plan, null, 0, around, null));
		pass(600);
		assertThat(subscriber.failures).hasSize(1);
		assertThat(this.attempts).isEqualTo(4);
	}

	private Mono<Void> later() {
		return Mono.create((sink) -> this.simulation.time.schedule(1_000_000, sink::success));
	}

	@Test
	void callsWaitForTheirTurnWithoutAThread() {
		this.simulation.with("q", Simulation.EXACT, Simulation.ONE_PER_SECOND, null, null);
		List<Subscriber<String>> subscribers = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			subscribers.add(subscribe(driver().flux(this.simulation.plan("q"), null, 0, () -> Flux.just("a"), null)));
		}
		pass(21);
		assertThat(subscribers).allSatisfy((subscriber) -> assertThat(subscriber.completed).isTrue());
		assertThat(this.simulation.time.active()).isZero();
	}

	private static <T> Subscriber<T> subscribe(Flux<T> flux) {
		Subscriber<T> subscriber = new Subscriber<>(Long.MAX_VALUE);
		flux.subscribe(subscriber);
		return subscriber;
	}

	private static LlmCallReport report(Subscriber<?> subscriber) {
		return Objects.requireNonNull(LlmCallReport.find(subscriber.failures.get(0)));
	}

	/** Keeps what it gets. */
	private static class Subscriber<T> extends BaseSubscriber<T> {

		final List<T> elements = new ArrayList<>();

		final List<Throwable> failures = new ArrayList<>();

		boolean completed;

		private final long demand;

		Subscriber(long demand) {
			this.demand = demand;
		}

		@Override
		protected void hookOnSubscribe(Subscription subscription) {
			subscription.request(this.demand);
		}

		@Override
		protected void hookOnNext(T value) {
			this.elements.add(value);
		}

		@Override
		protected void hookOnError(Throwable throwable) {
			this.failures.add(throwable);
		}

		@Override
		protected void hookOnComplete() {
			this.completed = true;
		}

	}

}
