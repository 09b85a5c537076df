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
import dev.llmresilience.limiter.Ticket;
import org.jspecify.annotations.Nullable;

/**
 * Says why a guard refused a call, and until when.
 */
final class Refusals {

	private static final String MAX_WAIT = "limiter.max-wait";

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

	static LlmCallRefusedException limiter(Provider provider, Ticket ticket, Instant now) {
		String name = provider.name();
		String limitedBy = switch (ticket.state()) {
			case REFUSED_CLOSED -> null;
			case REFUSED_BREAKER -> null;
			case REFUSED_MAX_WAIT -> MAX_WAIT;
			case REFUSED_TOO_LARGE -> "limiter.tokens-per-minute";
			case REFUSED_MAX_WAITING -> "limiter.max-waiting";
			case LEFT -> ranOutOfMaxWait(provider, ticket) ? MAX_WAIT : TIMEOUT;
			case WAITING, GRANTED, REFUSED_DEADLINE -> TIMEOUT;
		};
		if (limitedBy == null) {
			return (ticket.state() == Ticket.State.REFUSED_CLOSED) ? shutdown(name) : breaker(name, provider.breaker());
		}
		if (ticket.state() == Ticket.State.REFUSED_TOO_LARGE) {
			return RateLimitWaitException.never(name, property(provider, limitedBy));
		}
		// A wait that ran out turned out longer than it looked.
		boolean ranOut = ticket.state() == Ticket.State.LEFT;
		Duration needed = Duration
			.ofNanos(ranOut ? Math.max(ticket.neededNanos(), ticket.patienceNanos()) : ticket.neededNanos());
		return new RateLimitWaitException(name, needed, property(provider, limitedBy), now.plus(needed));
	}

	/** The limiter may be that of another entry. */
	private static String property(Provider provider, String name) {
		String owner = name.equals(TIMEOUT) ? null : provider.settings().limiterSharedWith();
		return "llm.resilience.providers." + ((owner != null) ? owner : provider.name()) + "." + name;
	}

	private static boolean ranOutOfMaxWait(Provider provider, Ticket ticket) {
		Duration maxWait = provider.limiter().settings().maxWait();
		return maxWait != null && ticket.patienceNanos() >= maxWait.toNanos();
	}

}
