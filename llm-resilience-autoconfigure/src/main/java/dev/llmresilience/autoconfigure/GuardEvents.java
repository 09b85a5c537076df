package dev.llmresilience.autoconfigure;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.LastFailure;
import dev.llmresilience.breaker.QuotaTransition;
import dev.llmresilience.engine.FailoverEvent;
import dev.llmresilience.engine.GuardListener;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Makes one line in the log and one application event of each transition. Thread-safe.
 */
final class GuardEvents implements GuardListener {

	private static final Log logger = LogFactory.getLog("dev.llmresilience.guards");

	private final ApplicationEventPublisher publisher;

	GuardEvents(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void onTransition(BreakerTransition transition) {
		StringBuilder line = new StringBuilder("Circuit breaker of '").append(transition.provider()).append("': ");
		line.append(transition.from()).append(" -> ").append(transition.to());
		LastFailure cause = transition.cause();
		if (cause != null) {
			line.append(", last failure ").append(cause.kind());
			if (cause.status() != 0) {
				line.append(' ').append(cause.status());
			}
		}
		if (transition.nextTrialAt() != null) {
			line.append(", next trial call at ").append(transition.nextTrialAt());
		}
		logger.warn(line);
		publish(transition);
	}

	@Override
	public void onTransition(QuotaTransition transition) {
		StringBuilder line = new StringBuilder("Quota of '").append(transition.scope()).append("' ");
		if (transition.latched()) {
			line.append("is exhausted");
			if (transition.code() != null) {
				line.append(" (").append(transition.code()).append(')');
			}
			line.append(": calls are refused, next probe at ").append(transition.nextProbeAt());
			if (transition.resetAt() != null) {
				line.append(", the provider named ").append(transition.resetAt()).append(" for its return");
			}
		}
		else {
			line.append("is back: calls pass again");
		}
		logger.warn(line);
		publish(transition);
	}

	/**
	 * A failover is one of many within an outage, which has a line of its own; only one
	 * that costs money elsewhere because it has run out here is as loud.
	 */
	@Override
	public void onFailover(FailoverEvent event) {
		String line = "Call failed over from '" + event.from() + "' to '" + event.to() + "': " + event.kind() + ", "
				+ event.reason();
		if (event.kind() == FailureKind.QUOTA_EXHAUSTED) {
			logger.warn(line);
		}
		else {
			logger.info(line);
		}
		publish(event);
	}

	/** A listener that fails must not fail the call that caused the event. */
	private void publish(Object event) {
		try {
			this.publisher.publishEvent(event);
		}
		catch (RuntimeException | Error ex) {
			logger.error("A listener failed on " + event, ex);
		}
	}

}
