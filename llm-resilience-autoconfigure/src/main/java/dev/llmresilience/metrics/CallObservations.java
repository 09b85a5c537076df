package dev.llmresilience.metrics;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.engine.CallTrace;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Event;
import io.micrometer.observation.ObservationRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Makes an observation {@value #NAME} of each call, with an event for each attempt, which
 * whoever traces makes a span of. Tagged with {@code provider} and, in the end,
 * {@code outcome}: values from fixed sets. A call that was given up has its
 * {@link LlmCallReport} for an error: what the provider threw may hold texts that belong
 * into no trace. Thread-safe.
 */
public final class CallObservations implements CallTrace.Tracer {

	/** The name of the observations. */
	public static final String NAME = "llm.call";

	private static final Log logger = LogFactory.getLog(CallObservations.class);

	private static final String SUCCESS = "SUCCESS";

	private static final Event SUCCEEDED = Event.of("llm.attempt.success", "attempt: SUCCESS");

	private static final Map<FailureKind, Event> FAILED = failed();

	private final ObservationRegistry registry;

	/**
	 * Creates it.
	 * @param registry hears of the observations
	 */
	public CallObservations(ObservationRegistry registry) {
		this.registry = registry;
	}

	private static Map<FailureKind, Event> failed() {
		Map<FailureKind, Event> events = new EnumMap<>(FailureKind.class);
		for (FailureKind kind : FailureKind.values()) {
			events.put(kind, Event.of("llm.attempt.failure", "attempt: " + kind));
		}
		return events;
	}

	@Override
	public @Nullable CallTrace begin(String provider, @Nullable Object parent) {
		if (this.registry.isNoop()) {
			return null;
		}
		try {
			Observation observation = Observation.createNotStarted(NAME, this.registry)
				.lowCardinalityKeyValue("provider", provider);
			if (parent instanceof Observation around) {
				observation.parentObservation(around);
			}
			return new ObservedCall(observation.start());
		}
		catch (RuntimeException ex) {
			failed(ex);
			return null;
		}
	}

	/** A handler that fails must not fail the call. */
	private static void failed(RuntimeException ex) {
		logger.error("A handler of observations failed on a call", ex);
	}

	private static void safely(Runnable telling) {
		try {
			telling.run();
		}
		catch (RuntimeException ex) {
			failed(ex);
		}
	}

	private record ObservedCall(Observation observation) implements CallTrace {

		@Override
		public Scope open() {
			try {
				Observation.Scope scope = this.observation.openScope();
				return () -> safely(scope::close);
			}
			catch (RuntimeException ex) {
				failed(ex);
				return () -> {
				};
			}
		}

		@Override
		public Object contextValue() {
			return this.observation;
		}

		@Override
		public void attemptEnded(@Nullable FailureKind kind) {
			Event event = (kind != null) ? Objects.requireNonNull(FAILED.get(kind)) : SUCCEEDED;
			safely(() -> this.observation.event(event));
		}

		@Override
		public void ended(@Nullable LlmCallReport report) {
			GiveUpReason reason = (report != null) ? report.reason() : null;
			safely(() -> {
				this.observation.lowCardinalityKeyValue("outcome", (reason != null) ? reason.name() : SUCCESS);
				if (report != null && reason != null) {
					this.observation.error(report);
				}
			});
			safely(this.observation::stop);
		}

	}

}
