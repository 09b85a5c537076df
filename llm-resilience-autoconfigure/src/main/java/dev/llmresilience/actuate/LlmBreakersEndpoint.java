package dev.llmresilience.actuate;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.TreeMap;

import dev.llmresilience.breaker.BreakerSnapshot;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.LastFailure;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.Providers;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Shows the circuit breakers, and lets an operator close, open or disable one. Writing is
 * off unless {@code management.endpoint.llmbreakers.access} is {@code unrestricted}.
 */
@Endpoint(id = "llmbreakers", defaultAccess = Access.READ_ONLY)
public class LlmBreakersEndpoint {

	private final Providers providers;

	/**
	 * Creates the endpoint.
	 * @param providers the provider entries
	 */
	public LlmBreakersEndpoint(Providers providers) {
		this.providers = providers;
	}

	/**
	 * Shows all breakers.
	 * @return them, by the name of the provider entry
	 */
	@ReadOperation
	public BreakersDescriptor breakers() {
		Map<String, BreakerDescriptor> breakers = new TreeMap<>();
		for (Provider provider : this.providers.all()) {
			CircuitBreaker breaker = provider.breaker();
			if (breaker != null && LlmProvidersEndpoint.isShown(provider)) {
				breakers.put(provider.name(), BreakerDescriptor.of(breaker.snapshot()));
			}
		}
		return new BreakersDescriptor(breakers);
	}

	/**
	 * Shows one breaker.
	 * @param provider the name of the provider entry
	 * @return it, or {@code null} if there is none
	 */
	@ReadOperation
	public @Nullable BreakerDescriptor breaker(@Selector String provider) {
		CircuitBreaker breaker = find(provider);
		return (breaker != null) ? BreakerDescriptor.of(breaker.snapshot()) : null;
	}

	/**
	 * Closes, opens or disables a breaker.
	 * @param provider the name of the provider entry
	 * @param state {@code CLOSED}, {@code FORCED_OPEN} or {@code DISABLED}
	 * @return the breaker as it then is, or {@code null} if there is none
	 * @throws IllegalArgumentException if the state is none of these
	 */
	@WriteOperation
	public @Nullable BreakerDescriptor steer(@Selector String provider, String state) {
		CircuitBreaker breaker = find(provider);
		if (breaker == null) {
			return null;
		}
		switch (state) {
			case "CLOSED" -> breaker.close();
			case "FORCED_OPEN" -> breaker.forceOpen();
			case "DISABLED" -> breaker.disable();
			default -> throw new IllegalArgumentException("state must be CLOSED, FORCED_OPEN or DISABLED");
		}
		return BreakerDescriptor.of(breaker.snapshot());
	}

	private @Nullable CircuitBreaker find(String name) {
		Provider provider = this.providers.find(name);
		return (provider != null) ? provider.breaker() : null;
	}

	/**
	 * All breakers.
	 *
	 * @param breakers by the name of the provider entry
	 */
	public record BreakersDescriptor(Map<String, BreakerDescriptor> breakers) implements OperationResponseBody {
	}

	/**
	 * One breaker.
	 *
	 * @param state the state
	 * @param consecutiveFailures failures since the last success
	 * @param failureThreshold consecutive failures that open it
	 * @param openedAt when it opened
	 * @param nextTrialAt when the next trial call may go out
	 * @param trialInFlight whether a trial call is on its way
	 * @param rejectedCalls calls refused since it opened
	 * @param lastFailure the last failure that was counted
	 */
	public record BreakerDescriptor(BreakerState state, int consecutiveFailures, int failureThreshold,
			@Nullable Instant openedAt, @Nullable Instant nextTrialAt, boolean trialInFlight, long rejectedCalls,
			@Nullable LastFailureDescriptor lastFailure) implements OperationResponseBody {

		static BreakerDescriptor of(BreakerSnapshot snapshot) {
			LastFailure last = snapshot.lastFailure();
			return new BreakerDescriptor(snapshot.state(), snapshot.consecutiveFailures(), snapshot.failureThreshold(),
					millis(snapshot.openedAt()), millis(snapshot.nextTrialAt()), snapshot.trialInFlight(),
					snapshot.rejectedCalls(), (last != null) ? LastFailureDescriptor.of(last) : null);
		}

		private static @Nullable Instant millis(@Nullable Instant instant) {
			return (instant != null) ? instant.truncatedTo(ChronoUnit.MILLIS) : null;
		}

	}

	/**
	 * The last failure that a breaker counted.
	 *
	 * @param kind what kind of failure
	 * @param status the HTTP status, absent where there was none
	 * @param at when it was counted
	 */
	public record LastFailureDescriptor(String kind, @Nullable Integer status, Instant at) {

		static LastFailureDescriptor of(LastFailure last) {
			return new LastFailureDescriptor(last.kind().name(), (last.status() != 0) ? last.status() : null,
					last.at().truncatedTo(ChronoUnit.MILLIS));
		}

	}

}
