package dev.llmresilience.engine;

import dev.llmresilience.Priority;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.time.TimeSource;

/**
 * Stands in the queue of the limiter in place of a call that is only observed and has
 * gone on, so that the queue and its waits are those that there would be.
 */
final class ShadowWait {

	private final Provider provider;

	private final TimeSource time;

	private final Permit permit;

	private final long begun;

	ShadowWait(Provider provider, TimeSource time, Priority priority, long tokens, long now) {
		this.provider = provider;
		this.time = time;
		this.begun = now;
		this.permit = new Permit(provider, priority, tokens, false, now);
	}

	/** Joins the queue. */
	void begin() {
		long deadline = this.begun + this.provider.options().timeoutNanos();
		Ticket ticket = this.provider.limiter().enqueue(this.permit, this.begun, deadline, false, this::granted);
		boolean refused = ticket.state() != State.WAITING && ticket.state() != State.GRANTED;
		this.provider.monitor().observed(refused ? Intervention.REFUSED : Intervention.DELAYED);
		if (ticket.state() == State.GRANTED) {
			granted();
		}
	}

	/** The turn has come, or the queue was closed. */
	private void granted() {
		long now = this.time.nanoTime();
		RateLimiter limiter = this.provider.limiter();
		limiter.onSend(this.permit, now);
		limiter.onFailure(this.permit, true);
		this.provider.monitor().limiterWaited(now - this.begun);
	}

}
