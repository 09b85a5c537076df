package dev.llmresilience.engine;

import java.time.Instant;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.breaker.WaitingRoom;
import org.jspecify.annotations.Nullable;

/**
 * What one call holds of its entry's circuit breaker, and its place among those who wait
 * for that. Belongs to one call; not thread-safe.
 */
final class BreakerGuard {

	private final Provider provider;

	/** That of the call that this one is nested in. */
	private final @Nullable BreakerGuard outer;

	private CircuitBreaker.@Nullable Permit permit;

	/** What it was let in with after it had waited. */
	private @Nullable RoomTicket admission;

	BreakerGuard(Provider provider, @Nullable BreakerGuard outer) {
		this.provider = provider;
		this.outer = outer;
	}

	/** Whether the call has to fail at once because the breaker is open. */
	boolean refuses() {
		CircuitBreaker breaker = this.provider.breaker();
		if (breaker == null || !breaker.refuses() || outerTrial(breaker) != null || isPatient()) {
			return false;
		}
		breaker.onRejected();
		return true;
	}

	/**
	 * Whether the call waits for the breaker instead of failing. One that is nested in
	 * another that was let in would wait for that in vain.
	 */
	boolean isPatient() {
		if (this.provider.room() == null) {
			return false;
		}
		for (BreakerGuard around = this.outer; around != null; around = around.outer) {
			if (around.provider == this.provider && around.permit != null) {
				return false;
			}
		}
		return true;
	}

	/** Whether the call has to wait now. */
	boolean waits() {
		WaitingRoom room = this.provider.room();
		return room != null && (this.admission != null || !room.mayPass()) && isPatient();
	}

	/**
	 * Waits, in the place that it had if it was let in and got no permit.
	 * @param deadline the latest moment at which going on makes sense
	 * @param listener is told when the wait is over
	 * @return the ticket
	 */
	RoomTicket await(long deadline, Runnable listener) {
		WaitingRoom room = Objects.requireNonNull(this.provider.room());
		RoomTicket before = this.admission;
		this.admission = null;
		return (before != null) ? room.rejoin(before, listener) : room.join(deadline, listener);
	}

	/**
	 * A wait is over.
	 * @param ticket the ticket
	 * @return whether the call was let in
	 */
	boolean awaited(RoomTicket ticket) {
		WaitingRoom room = this.provider.room();
		if (room != null) {
			room.leave(ticket);
		}
		if (ticket.state() != RoomTicket.State.ADMITTED) {
			return false;
		}
		this.admission = ticket;
		return true;
	}

	/** Gives up the place among those who were let in. */
	void leaveRoom(boolean success) {
		RoomTicket admission = this.admission;
		WaitingRoom room = this.provider.room();
		if (admission != null && room != null) {
			this.admission = null;
			room.ended(admission, success);
		}
	}

	/** Whether this attempt is a trial of a call that can wait for another one. */
	boolean isPatientTrial() {
		return this.provider.room() != null && this.permit != null && this.permit.holdsTrial();
	}

	/**
	 * Takes a permit, if there is a breaker.
	 * @return whether the attempt may be made
	 */
	boolean tryAcquire() {
		CircuitBreaker breaker = this.provider.breaker();
		if (breaker == null) {
			return true;
		}
		CircuitBreaker.Permit trial = outerTrial(breaker);
		this.permit = (trial != null) ? trial : breaker.tryAcquire();
		return this.permit != null;
	}

	/**
	 * A nested call that meets the breaker of the call around it is part of that call's
	 * trial. Refused, it could never succeed, and neither could the other.
	 */
	private CircuitBreaker.@Nullable Permit outerTrial(CircuitBreaker breaker) {
		for (BreakerGuard around = this.outer; around != null; around = around.outer) {
			CircuitBreaker.Permit permit = (around.provider.breaker() == breaker) ? around.permit : null;
			if (permit != null && permit.holdsTrial()) {
				return permit;
			}
		}
		return null;
	}

	/** Whether a retry at a moment would be refused, and the call does not wait. */
	boolean refusesUntil(long moment) {
		CircuitBreaker breaker = this.provider.breaker();
		return breaker != null && !isPatient() && breaker.refusesUntil(moment);
	}

	/** Whether it matters how long an attempt took. */
	boolean measuresDuration() {
		return this.permit != null && Objects.requireNonNull(this.provider.breaker()).measuresDuration();
	}

	/**
	 * The attempt succeeded.
	 * @param nanos how long it took, if that is {@linkplain #measuresDuration measured}
	 */
	void succeeded(long nanos) {
		if (this.permit != null) {
			this.permit.success(nanos);
		}
		leaveRoom(true);
	}

	/** A stream has begun to deliver: a trial need not wait for its end. */
	void delivers() {
		if (this.permit != null && this.permit.holdsTrial()) {
			this.permit.success();
		}
	}

	/**
	 * The attempt failed.
	 * @param failure with what
	 * @param ladderSpent whether retrying did not get past it
	 * @param hint what the server said about when to come back, capped, in nanoseconds
	 */
	void failed(LlmFailure failure, boolean ladderSpent, long hint) {
		CircuitBreaker.Permit permit = this.permit;
		this.permit = null;
		boolean answered = false;
		if (permit != null) {
			BreakerEffect effect = (failure.kind() == FailureKind.RATE_LIMITED && ladderSpent) ? BreakerEffect.FAILURE
					: failure.kind().breakerEffect();
			switch (effect) {
				case SUCCESS -> {
					permit.success();
					answered = true;
				}
				case FAILURE -> permit.failure(failure.kind(), failure.status(), hint);
				case NEUTRAL -> neutral(permit);
			}
		}
		leaveRoom(answered);
	}

	/** The attempt has said nothing about the provider, or there was none. */
	void giveBack() {
		CircuitBreaker.Permit permit = this.permit;
		this.permit = null;
		if (permit != null) {
			neutral(permit);
		}
	}

	/**
	 * A trial of the call around, which is still under way, only ends with the outcome of
	 * this call, and not because it had none.
	 */
	private void neutral(CircuitBreaker.Permit permit) {
		for (BreakerGuard around = this.outer; around != null; around = around.outer) {
			if (around.permit == permit) {
				return;
			}
		}
		permit.neutral();
	}

	@Nullable Instant nextTrialAt() {
		CircuitBreaker breaker = this.provider.breaker();
		return (breaker != null) ? breaker.nextTrialAt() : null;
	}

}
