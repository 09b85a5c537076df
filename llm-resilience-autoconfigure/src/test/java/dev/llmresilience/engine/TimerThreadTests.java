package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.QuotaTransition;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.test.VirtualTime;
import dev.llmresilience.time.ForwardingTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code of the application may block, and the timer's thread is one for all: whatever a
 * timer sets off runs elsewhere.
 */
class TimerThreadTests {

	private final Simulation simulation = new Simulation();

	private final MarkedTime time = new MarkedTime(this.simulation.time);

	private final CallEngine engine = new CallEngine(this.time, (thrown, context) -> {
		happens("judge");
		return this.simulation.classifier.classify(thrown, context);
	});

	private final List<String> happened = new ArrayList<>();

	private final List<String> onTimer = new ArrayList<>();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	private void happens(String what) {
		this.happened.add(what);
		if (this.time.isOnTimer()) {
			this.onTimer.add(what);
		}
	}

	private CallPlan plan() {
		this.simulation.listener = new GuardListener() {

			@Override
			public void onTransition(BreakerTransition transition) {
				happens("breaker");
			}

			@Override
			public void onTransition(QuotaTransition transition) {
				happens("quota");
			}

			@Override
			public void onFailover(FailoverEvent event) {
				happens("failover");
			}

		};
		this.simulation
			.with("p", Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(2)).withAttempts(2, 2),
					LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0, 1), null,
					Simulation.threshold(2))
			.with("q");
		return this.simulation.plan("p", "q");
	}

	private CompletableFuture<String> attempt() {
		happens("attempt");
		CompletableFuture<String> attempt = new CompletableFuture<>();
		CompletableFuture<String> unused = attempt.whenComplete((value, thrown) -> happens("attempt ends"));
		return attempt;
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BLOCKING")
	void anAttemptOverItsTimeAndWhatFollowsRunElsewhere(Shape shape) {
		CallPlan plan = plan();
		CompletableFuture<String> call = switch (shape) {
			case MONO -> new ReactiveDriver(this.engine)
				.mono(plan, null, 0, () -> Mono.fromFuture(attempt()).doOnCancel(() -> happens("cancel")), null)
				.toFuture();
			case FLUX -> new ReactiveDriver(this.engine)
				.flux(plan, null, 0, () -> Mono.fromFuture(attempt()).doOnCancel(() -> happens("cancel")), null)
				.single()
				.toFuture();
			default -> new FutureDriver(this.engine).call(plan, null, 0, this::attempt, null);
		};
		CompletableFuture<String> told = call.whenComplete((value, thrown) -> happens("end"));
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(told).isCompletedExceptionally();
		assertThat(this.happened).contains("attempt", "attempt ends", "breaker", "failover", "end");
		assertThat(this.onTimer).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BLOCKING")
	void whatWaitedForItsTurnRunsElsewhere(Shape shape) {
		CallPlan plan = plan();
		CompletableFuture<String> first = CompletableFuture.completedFuture("answer");
		List<CompletableFuture<String>> calls = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			calls.add(switch (shape) {
				case MONO -> new ReactiveDriver(this.engine).mono(plan, null, 0, () -> {
					happens("attempt");
					return Mono.fromFuture(first);
				}, null).toFuture();
				case FLUX -> new ReactiveDriver(this.engine).flux(plan, null, 0, () -> {
					happens("attempt");
					return Mono.fromFuture(first);
				}, null).single().toFuture();
				default -> new FutureDriver(this.engine).call(plan, null, 0, () -> {
					happens("attempt");
					return first;
				}, null);
			});
		}
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(calls).allSatisfy((call) -> assertThat(call).isCompletedWithValue("answer"));
		assertThat(this.happened).hasSize(3);
		assertThat(this.onTimer).isEmpty();
	}

	@Test
	void theEndOfASilentStreamRunsElsewhere() {
		this.simulation.calls = CallSettings.DEFAULTS.withStreamTimeouts(null, Duration.ofSeconds(3));
		CallPlan plan = plan();
		Flux<String> calls = new ReactiveDriver(this.engine).flux(plan, null, 0,
				() -> Flux.just("a").concatWith(Flux.never()).doOnCancel(() -> happens("cancel")), null);
		CompletableFuture<List<String>> call = calls.doOnError((thrown) -> happens("end")).collectList().toFuture();
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(call).isCompletedExceptionally();
		assertThat(this.happened).contains("cancel", "end");
		assertThat(this.onTimer).isEmpty();
	}

	@Test
	void aFallbackRunsElsewhere() {
		CallPlan plan = plan();
		CompletableFuture<String> call = new FutureDriver(this.engine).call(plan, null, 0, this::attempt, (failure) -> {
			happens("fallback");
			return CompletableFuture.failedFuture(status(500));
		});
		CompletableFuture<String> told = call.whenComplete((value, thrown) -> happens("end"));
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(told).isCompletedExceptionally();
		assertThat(this.happened).contains("fallback", "end");
		assertThat(this.onTimer).isEmpty();
	}

	@Test
	void theEndOfACallThatFollowedAnEqualOneForTooLongRunsElsewhere() {
		CallPlan plan = plan();
		SharedCalls shared = new SharedCalls(this.engine);
		CompletableFuture<Object> leader = shared.callAsync("method", plan, "equal", CompletableFuture::new);
		CompletableFuture<Object> told = shared
			.callAsync("method", plan, "equal", () -> CompletableFuture.<Object>completedFuture("own"))
			.whenComplete((value, thrown) -> happens("end"));
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(leader).isNotDone();
		assertThat(told).isCompletedExceptionally();
		assertThat(this.happened).containsExactly("end");
		assertThat(this.onTimer).isEmpty();
	}

	/** Knows whether what runs was set off by a timer, or is a task. */
	private static final class MarkedTime extends ForwardingTime {

		private boolean onTimer;

		MarkedTime(VirtualTime time) {
			super(time);
		}

		boolean isOnTimer() {
			return this.onTimer;
		}

		@Override
		public Timer schedule(long delayNanos, Runnable task) {
			return super.schedule(delayNanos, () -> {
				this.onTimer = true;
				try {
					task.run();
				}
				finally {
					this.onTimer = false;
				}
			});
		}

	}

}
