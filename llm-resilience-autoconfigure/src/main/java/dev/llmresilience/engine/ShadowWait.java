package dev.llmresilience.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.TokenUsage;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Stands in the queue of the limiter in place of a call that is only observed and has
 * gone on, so that the queue and its waits are those that there would be. Its turn takes
 * what the call would have taken, and what the call has used then settles that.
 */
final class ShadowWait {

	private final Provider provider;

	private final TimeSource time;

	private final Permit permit;

	private final long begun;

	private final AtomicBoolean ended = new AtomicBoolean();

	/**
	 * What is missing until it can give back and settle: its turn, and the call's end.
	 */
	private final AtomicInteger missing = new AtomicInteger(2);

	private volatile @Nullable TokenUsage usage;

	/** Told, perhaps before the ticket was known. */
	private volatile boolean told;

	private volatile @Nullable Ticket ticket;

	private volatile @Nullable Timer timer;

	/**
	 * Creates it.
	 * @param provider the entry that the call is made under
	 * @param time the time source of the engine
	 * @param call the permit of the call
	 * @param now the monotonic clock
	 */
	ShadowWait(Provider provider, TimeSource time, Permit call, long now) {
		this.provider = provider;
		this.time = time;
		this.begun = now;
		this.permit = new Permit(provider, call.priority(), call.tokens(), false, now);
	}

	/** Joins the queue. */
	void begin() {
		long deadline = this.begun + this.provider.options().timeoutNanos();
		Ticket ticket = this.provider.limiter().enqueue(this.permit, this.begun, deadline, false, this::told);
		this.ticket = ticket;
		if (this.told || ticket.state() != State.WAITING) {
			end(ticket);
			return;
		}
		this.timer = this.time.schedule(ticket.patienceNanos(), () -> expire(ticket));
		if (this.ended.get()) {
			stop();
		}
	}

	private void told() {
		this.told = true;
		Ticket ticket = this.ticket;
		if (ticket != null) {
			end(ticket);
		}
	}

	private void expire(Ticket ticket) {
		if (this.provider.limiter().leave(ticket)) {
			end(ticket);
		}
	}

	private void end(Ticket ticket) {
		if (!this.ended.compareAndSet(false, true)) {
			return;
		}
		stop();
		if (ticket.state() != State.GRANTED) {
			this.provider.monitor().observed(Intervention.REFUSED);
			return;
		}
		this.provider.monitor().observed(Intervention.DELAYED);
		this.provider.limiter().onSend(this.permit, this.time.nanoTime());
		settle();
		this.provider.monitor().limiterWaited(this.time.nanoTime() - this.begun);
	}

	/**
	 * The call has ended. To be called once.
	 * @param usage the tokens that it has used, or {@code null} if unknown
	 */
	void callEnded(@Nullable TokenUsage usage) {
		this.usage = usage;
		settle();
	}

	private void settle() {
		if (this.missing.decrementAndGet() == 0) {
			this.provider.limiter().onSuccess(this.permit, this.usage);
		}
	}

	private void stop() {
		Timer timer = this.timer;
		if (timer != null) {
			timer.cancel();
		}
	}

}
