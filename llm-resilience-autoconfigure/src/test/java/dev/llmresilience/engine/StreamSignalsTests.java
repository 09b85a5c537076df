package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.StreamEvent.Item;
import dev.llmresilience.StreamEvent.Reset;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Signals of a stream that come while another one is being delivered, or before the
 * subscriber has asked for anything: none is lost, and none comes after the end.
 */
class StreamSignalsTests {

	private final Simulation simulation = new Simulation();

	private final Sinks.Many<String> second = Sinks.many().unicast().onBackpressureBuffer();

	private int attempts;

	@AfterEach
	void end() {
		this.simulation.close();
	}

	/**
	 * The first attempt breaks after its first element, the second is that of the test.
	 */
	private Flux<StreamEvent<String>> calls(@Nullable Mono<String> fallback) {
		this.simulation.with("p", Simulation.EXACT.withAttempts((fallback != null) ? 1 : 3, 0),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		@Nullable Fallback<Mono<String>> given = (fallback != null) ? (failure) -> fallback : null;
		return new ReactiveDriver(this.simulation.engine()).stream(this.simulation.plan("p"), this::attempt, given);
	}

	private Publisher<String> attempt() {
		return switch (this.attempts++) {
			case 0 -> Flux.just("a").concatWith(Flux.error(() -> status(500)));
			case 1 -> this.second.asFlux();
			default -> Flux.just("c");
		};
	}

	private void pass(double seconds) {
		this.simulation.time.runFor(Duration.ofMillis((long) (seconds * 1000)));
	}

	@Test
	void anAttemptThatFailsWhileItsBeginningIsToldIsRetried() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(1, (event) -> {
			if (event.equals(new Reset<>(2))) {
				this.second.tryEmitError(status(500));
			}
		});
		calls(null).subscribe(subscriber);
		pass(1);
		subscriber.request(5);
		pass(10);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"), new Reset<>(2), new Item<>("c"));
		assertThat(subscriber.ends).containsExactly("completed");
	}

	@Test
	void anAttemptThatEndsWhileItsBeginningIsToldIsTheAnswer() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(1, (event) -> {
			if (event.equals(new Reset<>(2))) {
				this.second.tryEmitComplete();
			}
		});
		calls(null).subscribe(subscriber);
		pass(1);
		subscriber.request(5);
		pass(10);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"), new Reset<>(2));
		assertThat(subscriber.ends).containsExactly("completed");
	}

	/** Else the subscriber would take what is void for the answer. */
	@Test
	void anAttemptWithoutElementsEndsOnlyOnceItsBeginningHasBeenTold() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(1, (event) -> {
		});
		calls(null).subscribe(subscriber);
		pass(1);
		this.second.tryEmitComplete();
		pass(600);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"));
		assertThat(subscriber.ends).isEmpty();
		subscriber.request(1);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"), new Reset<>(2));
		assertThat(subscriber.ends).containsExactly("completed");
	}

	@Test
	void anAttemptThatFailsBeforeItsBeginningWasToldIsRetriedAtOnce() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(1, (event) -> {
		});
		calls(null).subscribe(subscriber);
		pass(1);
		this.second.tryEmitError(status(500));
		pass(2);
		assertThat(this.attempts).isEqualTo(3);
		subscriber.request(2);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"), new Reset<>(3), new Item<>("c"));
		assertThat(subscriber.ends).containsExactly("completed");
	}

	@Test
	void aFallbackWithoutAnAnswerEndsOnlyOnceItsBeginningHasBeenTold() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(1, (event) -> {
		});
		calls(Mono.empty()).subscribe(subscriber);
		pass(1);
		assertThat(subscriber.ends).isEmpty();
		subscriber.request(1);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"), new Reset<>(0));
		assertThat(subscriber.ends).containsExactly("completed");
	}

	@Test
	void nothingComesAfterTheErrorOfAFallback() {
		Subscriber<StreamEvent<String>> subscriber = new Subscriber<>(1, (event) -> {
		});
		calls(Mono.error(new IllegalStateException("fallback"))).subscribe(subscriber);
		pass(1);
		assertThat(subscriber.ends).containsExactly("fallback");
		subscriber.ask(5);
		assertThat(subscriber.elements).containsExactly(new Item<>("a"));
	}

	/** It is the subscriber that takes its time, not the provider. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aSubscriberThatIsSlowIsNotASilentProvider(boolean endless) {
		this.simulation.calls = CallSettings.DEFAULTS.withStreamTimeouts(null, Duration.ofSeconds(3));
		calls(null);
		Subscriber<String> subscriber = new Subscriber<>(endless ? Long.MAX_VALUE : 5, (element) -> pass(10));
		new ReactiveDriver(this.simulation.engine()).flux(this.simulation.plan("p"), null, 0, this.second::asFlux, null)
			.subscribe(subscriber);
		this.second.tryEmitNext("x");
		pass(2.9);
		this.second.tryEmitNext("y");
		this.second.tryEmitComplete();
		assertThat(subscriber.elements).containsExactly("x", "y");
		assertThat(subscriber.ends).containsExactly("completed");
	}

	@Test
	void aProviderThatIsSilentAfterASlowSubscriberIsGivenUpOn() {
		this.simulation.calls = CallSettings.DEFAULTS.withStreamTimeouts(null, Duration.ofSeconds(3));
		calls(null);
		Subscriber<String> subscriber = new Subscriber<>(Long.MAX_VALUE, (element) -> pass(10));
		new ReactiveDriver(this.simulation.engine()).flux(this.simulation.plan("p"), null, 0, this.second::asFlux, null)
			.subscribe(subscriber);
		this.second.tryEmitNext("x");
		pass(2.9);
		assertThat(subscriber.ends).isEmpty();
		pass(3.1);
		assertThat(subscriber.failure).isInstanceOf(AttemptTimeoutException.class);
		assertThat(Objects.requireNonNull(LlmCallReport.find(Objects.requireNonNull(subscriber.failure))).reason())
			.isEqualTo(GiveUpReason.STREAM_BROKEN);
		assertThat(this.second.currentSubscriberCount()).isZero();
	}

	/** Keeps what it gets, also what it should not get any more. */
	private static final class Subscriber<T> extends BaseSubscriber<T> {

		final List<T> elements = new ArrayList<>();

		final List<String> ends = new ArrayList<>();

		@Nullable Throwable failure;

		private final long demand;

		private final Consumer<T> listener;

		private @Nullable Subscription subscription;

		Subscriber(long demand, Consumer<T> listener) {
			this.demand = demand;
			this.listener = listener;
		}

		/** Asks for more even after the end. */
		void ask(long more) {
			Objects.requireNonNull(this.subscription).request(more);
		}

		@Override
		protected void hookOnSubscribe(Subscription subscription) {
			this.subscription = subscription;
			subscription.request(this.demand);
		}

		@Override
		protected void hookOnNext(T value) {
			this.elements.add(value);
			this.listener.accept(value);
		}

		@Override
		protected void hookOnError(Throwable throwable) {
			this.failure = throwable;
			this.ends.add(String.valueOf(throwable.getMessage()));
		}

		@Override
		protected void hookOnComplete() {
			this.ends.add("completed");
		}

	}

}
