package dev.llmresilience.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.engine.CallTrace;
import dev.llmresilience.test.VirtualTime;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationView;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * An observation of each call where something traces, and what is within the call belongs
 * to it, on every driver.
 */
class CallObservationsTests {

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final VirtualTime time = new VirtualTime(1);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.max-attempts=3")
		.withBean("time", VirtualTime.class, () -> this.time);

	private final ApplicationContextRunner traced = this.runner
		.withBean("registry", ObservationRegistry.class, () -> this.registry)
		.withBean("tracing", ObservationHandler.class, () -> new Tracing());

	@ParameterizedTest
	@EnumSource(Driver.class)
	void aCallIsOneObservationWithAnEventForEachAttempt(Driver driver) {
		this.traced.run((context) -> {
			driver.call(context, new Attempts(this.registry, 2));
			pass();
			assertThat(this.registry).hasNumberOfObservationsEqualTo(1)
				.hasObservationWithNameEqualTo("llm.call")
				.that()
				.hasBeenStarted()
				.hasBeenStopped()
				.hasLowCardinalityKeyValue("provider", "anthropic")
				.hasLowCardinalityKeyValue("outcome", "SUCCESS")
				.doesNotHaveError();
			assertThat(this.registry).hasObservationWithNameEqualTo("llm.call")
				.that()
				.hasEvent("llm.attempt.failure", "attempt: TIMEOUT")
				.hasEvent("llm.attempt.success", "attempt: SUCCESS");
		});
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void itsOutcomeIsTheReasonAndItsErrorTheReport(Driver driver) {
		this.traced.run((context) -> {
			driver.call(context, new Attempts(this.registry, 100));
			pass();
			assertThat(this.registry).hasObservationWithNameEqualTo("llm.call")
				.that()
				.hasLowCardinalityKeyValue("outcome", "ATTEMPTS")
				.thenError()
				.isInstanceOf(LlmCallReport.class);
		});
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void eachAttemptIsWithinIt(Driver driver) {
		this.traced.run((context) -> {
			Attempts attempts = new Attempts(this.registry, 2);
			driver.call(context, attempts);
			pass();
			assertThat(attempts.observations).hasSize(3).allSatisfy((name) -> assertThat(name).isEqualTo("llm.call"));
			assertThat(this.registry.getCurrentObservation()).as("left again").isNull();
		});
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void itBelongsToWhatTheCallerDoes(Driver driver) {
		this.traced.run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			caller.scoped(() -> driver.call(context, new Attempts(this.registry, 1)));
			pass();
			caller.stop();
			assertThat(this.registry).hasObservationWithNameEqualTo("llm.call")
				.that()
				.hasParentObservationEqualTo(caller);
		});
	}

	@Test
	void aReactiveCallBelongsToWhatItsContextNames() {
		this.traced.run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			List<@Nullable Object> within = new ArrayList<>();
			Mono<String> call = context.getBean(ReactiveLlmResilience.class)
				.mono("anthropic", () -> Mono.deferContextual((view) -> {
					within.add(view.get(CallTrace.CONTEXT_KEY));
					return Mono.just("answer");
				}));
			assertThat(call.contextWrite((view) -> view.put(CallTrace.CONTEXT_KEY, caller)).block())
				.isEqualTo("answer");
			caller.stop();
			assertThat(this.registry).hasObservationWithNameEqualTo("llm.call")
				.that()
				.hasParentObservationEqualTo(caller);
			assertThat(within).singleElement()
				.satisfies((value) -> assertThat(((ObservationView) value).getContextView().getName())
					.isEqualTo("llm.call"));
		});
	}

	@Test
	void aCallThatIsCancelledIsStopped() {
		this.traced.run((context) -> {
			context.getBean(LlmResilience.class).callAsync("anthropic", CompletableFuture<String>::new).cancel(true);
			assertThat(this.registry).hasObservationWithNameEqualTo("llm.call")
				.that()
				.hasBeenStopped()
				.hasLowCardinalityKeyValue("outcome", "CANCELLED");
		});
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void aHandlerThatFailsFailsNoCall(Driver driver) {
		this.registry.observationConfig().observationHandler(new Failing());
		this.traced.run((context) -> {
			Attempts attempts = new Attempts(this.registry, 2);
			driver.call(context, attempts);
			pass();
			assertThat(attempts.observations).hasSize(3);
		});
	}

	@Test
	void whereOnlyMetersAreMadeOfObservationsThereAreNone() {
		this.runner.withBean("registry", ObservationRegistry.class, () -> this.registry)
			.withBean("meters", MeterRegistry.class, SimpleMeterRegistry::new)
			.withBean("handler", DefaultMeterObservationHandler.class, SimpleHandler::new)
			.run((context) -> {
				assertThat(context.getBean(LlmResilience.class).call("anthropic", () -> 42)).isEqualTo(42);
				assertThat(this.registry).doesNotHaveAnyObservation();
				assertThat(context.getBean(CallTrace.Tracer.class)).isSameAs(CallTrace.Tracer.NONE);
			});
	}

	@Test
	void whereHandlersAreOnlyForOtherObservationsThereAreNone() {
		this.runner.withBean("registry", ObservationRegistry.class, () -> this.registry)
			.withBean("handler", ObservationHandler.class, OthersHandler::new)
			.run((context) -> {
				assertThat(context.getBean(LlmResilience.class).call("anthropic", () -> 42)).isEqualTo(42);
				assertThat(this.registry).doesNotHaveAnyObservation();
				assertThat(context.getBean(CallTrace.Tracer.class)).isSameAs(CallTrace.Tracer.NONE);
			});
	}

	private void pass() {
		this.time.runFor(java.time.Duration.ofMinutes(5));
	}

	private static final class SimpleHandler extends DefaultMeterObservationHandler {

		SimpleHandler() {
			super(new SimpleMeterRegistry());
		}

	}

	/** As libraries bring them: a context of their own tells theirs from others. */
	private static final class OthersHandler implements ObservationHandler<OthersHandler.Context> {

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof Context;
		}

		private static final class Context extends Observation.Context {

		}

	}

	private static final class Failing implements ObservationHandler<Observation.Context> {

		@Override
		public void onEvent(Observation.Event event, Observation.Context context) {
			throw new IllegalStateException("handler");
		}

		@Override
		public void onStop(Observation.Context context) {
			throw new IllegalStateException("handler");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	private static final class Tracing implements ObservationHandler<Observation.Context> {

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	/** Fail a number of times, and note what they are within. */
	private static final class Attempts {

		private final ObservationRegistry registry;

		private final List<String> observations = new ArrayList<>();

		private int failures;

		Attempts(ObservationRegistry registry, int failures) {
			this.registry = registry;
			this.failures = failures;
		}

		String next() {
			Observation current = this.registry.getCurrentObservation();
			this.observations.add((current != null) ? current.getContext().getName() : "none");
			if (this.failures-- > 0) {
				throw new java.io.UncheckedIOException(new java.net.SocketTimeoutException("canary"));
			}
			return "answer";
		}

	}

	enum Driver {

		BLOCKING {
			@Override
			void call(AssertableApplicationContext context, Attempts attempts) {
				VirtualTime time = context.getBean(VirtualTime.class);
				ObservationRegistry registry = context.getBean(ObservationRegistry.class);
				Observation current = registry.getCurrentObservation();
				Observation around = (current != null) ? current : Observation.NOOP;
				Thread unused = time.start(() -> around.scoped(() -> {
					try {
						context.getBean(LlmResilience.class).call("anthropic", attempts::next);
					}
					catch (Exception ex) {
						assertThat(ex).isInstanceOf(java.io.UncheckedIOException.class);
					}
				}));
				time.run();
			}
		},

		FUTURE {
			@Override
			void call(AssertableApplicationContext context, Attempts attempts) {
				CompletableFuture<String> unused = context.getBean(LlmResilience.class)
					.callAsync("anthropic", () -> CompletableFuture.completedFuture(attempts.next()));
			}
		},

		MONO {
			@Override
			void call(AssertableApplicationContext context, Attempts attempts) {
				context.getBean(ReactiveLlmResilience.class)
					.mono("anthropic", () -> Mono.fromSupplier(attempts::next))
					.subscribe((value) -> {
					}, (thrown) -> {
					});
			}
		},

		FLUX {
			@Override
			void call(AssertableApplicationContext context, Attempts attempts) {
				context.getBean(ReactiveLlmResilience.class)
					.flux("anthropic", () -> Flux.defer(() -> Flux.just(attempts.next())))
					.subscribe((value) -> {
					}, (thrown) -> {
					});
			}
		};

		abstract void call(AssertableApplicationContext context, Attempts attempts);

	}

}
