package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.QuotaExhaustedException;
import dev.llmresilience.RateLimitWaitException;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.limiter.Ticket.State;
import org.jspecify.annotations.Nullable;

/**
 * Says why a guard refused a call, and until when.
 */
final class Refusals {

	private static final String TIMEOUT = "retry.timeout";

	private Refusals() {
	}

	static LlmCallRefusedException shutdown(String provider) {
		return new ShutdownException(provider, null);
	}

	static LlmCallRefusedException deadline(String provider) {
		return new DeadlineExceededException(provider);
	}

	static LlmCallRefusedException breaker(String provider, @Nullable CircuitBreaker breaker) {
		return new CircuitOpenException(provider, (breaker != null) ? breaker.nextTrialAt() : null);
	}

	static LlmCallRefusedException quota(String provider, QuotaLatch latch, Instant now) {
		Instant nextProbeAt = latch.nextProbeAt();
		return new QuotaExhaustedException(provider, latch.resetAt(), (nextProbeAt != null) ? nextProbeAt : now);
	}

	/**
	 * Says why a limiter let a call not pass.
	 * @param provider whose limiter
	 * @param state what it said
	 * @param needed the wait that it would have taken
	 * @param now the present
	 * @return the refusal
	 */
	static LlmCallRefusedException limiter(Provider provider, State state, Duration needed, Instant now) {
		String name = provider.name();
		return switch (state) {
			case REFUSED_CLOSED -> shutdown(name);
			case REFUSED_BREAKER -> breaker(name, provider.breaker());
			case REFUSED_TOO_LARGE ->
				RateLimitWaitException.never(name, property(provider, "limiter.tokens-per-minute"));
			case REFUSED_MAX_WAIT -> wait(provider, needed, "limiter.max-wait", now);
			case REFUSED_MAX_WAITING -> wait(provider, needed, "limiter.max-waiting", now);
			case WAITING, GRANTED, LEFT, REFUSED_DEADLINE -> wait(provider, needed, TIMEOUT, now);
		};
	}

	private static RateLimitWaitException wait(Provider provider, Duration needed, String limitedBy, Instant now) {
		return new RateLimitWaitException(provider.name(), needed, property(provider, limitedBy), now.plus(needed));
	}

	/** The limiter may be that of another entry. */
	private static String property(Provider provider, String name) {
		String owner = name.equals(TIMEOUT) ? null : provider.settings().limiterSharedWith();
		return "llm.resilience.providers." + ((owner != null) ? owner : provider.name()) + "." + name;
	}

}
