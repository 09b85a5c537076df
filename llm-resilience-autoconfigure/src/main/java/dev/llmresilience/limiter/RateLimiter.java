package dev.llmresilience.limiter;

import java.util.List;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Paces calls, so that the provider has no reason to say 429: a bucket for each thing
 * that is limited, and one queue and one timer for all who wait. Rates are the configured
 * ones, or such that it {@linkplain PaceLearner learns} and that the provider announces.
 * <p>
 * A call first tries {@link #tryAcquire}, which neither locks nor allocates. When that
 * fails it queues up with {@link #enqueue enqueue} and is told when its turn has come.
 * <p>
 * Thread-safe.
 */
public final class RateLimiter {

	/** The pause after a rejection that names no time, before chance shortens it. */
	private static final long SILENT_HINT_NANOS = 1_000_000_000;

	private static final double SECONDS_PER_MINUTE = 60;

	private final TimeSource time;

	private volatile LimiterSettings settings;

	private final Meters meters;

	private final Turns turns;

	/**
	 * Creates a limiter whose buckets are full.
	 * @param settings how it paces
	 * @param time clock and timer
	 * @throws IllegalArgumentException if a value is out of its range
	 */
	public RateLimiter(LimiterSettings settings, TimeSource time) {
		this.settings = settings;
		this.time = time;
		this.meters = new Meters(settings, time.nanoTime());
		this.turns = new Turns(this.meters, settings, time);
	}

	/**
	 * How it was told to pace.
	 * @return the settings that hold; a rate that was set since is not among them
	 */
	public LimiterSettings settings() {
		return this.settings;
	}

	/**
	 * Whether this limiter paces a call that the provider has rejected, so that its retry
	 * is one that the provider can be expected to serve.
	 * @return whether it has a rate, or learns one
	 */
	public boolean paces() {
		return this.meters.pace();
	}

	/**
	 * Whether calls should bring an estimate of their tokens.
	 * @return whether tokens are limited at present
	 */
	public boolean countsTokens() {
		return this.meters.countTokens();
	}

	/**
	 * The rate of calls at present.
	 * @return calls a minute, or {@code null} if every call passes
	 */
	public @Nullable Double requestsPerMinute() {
		return perMinute(Dimension.REQUESTS);
	}

	/**
	 * The rate at present: the configured, announced or learnt one.
	 * @param dimension of calls, or of tokens of a kind
	 * @return calls or tokens a minute, or {@code null} if it is not limited
	 */
	public @Nullable Double perMinute(Dimension dimension) {
		Double perSecond = this.meters.of(dimension).perSecond();
		return (perSecond != null) ? Double.valueOf(perSecond * SECONDS_PER_MINUTE) : null;
	}

	/**
	 * Sets the configured rate anew. Those who wait follow it at once; what has been
	 * learnt about the rate of calls is forgotten. Without effect where the limiter is
	 * off.
	 * @param requestsPerMinute calls a minute, above 0, of which this process takes its
	 * share
	 * @throws IllegalArgumentException if it is not above 0, or not finite
	 */
	public void setRequestsPerMinute(double requestsPerMinute) {
		Limit limit = Limit.ofRequests(requestsPerMinute, this.settings);
		if (this.meters.areOff()) {
			return;
		}
		this.turns.lock().lock();
		try {
			this.meters.configure(Dimension.REQUESTS, limit, this.time.nanoTime());
		}
		finally {
			this.turns.lock().unlock();
		}
		this.turns.serveIfAnybodyWaits();
	}

	/**
	 * Follows other settings, but for their mode, share, initial level and network
	 * margin. Those who wait follow at once, but for how long they may; a limit that is
	 * not another than before keeps what has been learnt and set.
	 * @param settings how it is to pace
	 * @throws IllegalArgumentException if a value is out of its range; nothing has
	 * changed then
	 */
	public void configure(LimiterSettings settings) {
		this.turns.lock().lock();
		try {
			new Reconfiguration(this.settings, settings).apply(this.meters, this.time.nanoTime());
			this.turns.settings(settings);
			this.settings = settings;
		}
		finally {
			this.turns.lock().unlock();
		}
		this.turns.serveIfAnybodyWaits();
	}

	/**
	 * Forgets all that has been learnt and announced, and begins anew as configured.
	 * Those who wait go on waiting under what holds then.
	 */
	public void startOver() {
		this.turns.lock().lock();
		try {
			this.meters.startOver(this.time.nanoTime());
		}
		finally {
			this.turns.lock().unlock();
		}
		this.turns.serveIfAnybodyWaits();
	}

	/**
	 * Takes what a call needs if it is there and nobody waits for it.
	 * @param permit the call's permit
	 * @param now the monotonic clock of this limiter's time source, in nanoseconds
	 * @return whether the call may leave
	 */
	public boolean tryAcquire(Permit permit, long now) {
		return this.turns.mayTry(permit) && this.meters.take(permit, false, now);
	}

	/**
	 * Queues up. A wait that cannot fit is refused at once, and nothing is taken.
	 * @param permit the call's permit
	 * @param now the monotonic clock, in nanoseconds
	 * @param deadline the latest moment on that clock at which leaving makes sense
	 * @param retry whether the call is a retry, which goes before newcomers
	 * @param listener is told, on any thread, when the ticket is no longer waiting, which
	 * is by the deadline or the end of the longest wait allowed; it must be quick; not
	 * told when the returned ticket is not waiting to begin with
	 * @return the ticket: granted, refused or waiting
	 */
	public Ticket enqueue(Permit permit, long now, long deadline, boolean retry, Runnable listener) {
		return this.turns.join(permit, now, deadline, retry, listener);
	}

	/**
	 * Leaves the queue, so that the next in line moves up.
	 * @param ticket a ticket of this limiter
	 * @return {@code false} if the ticket was not waiting any more: if it has been
	 * granted, what it took has to be {@linkplain #giveBack given back}
	 */
	public boolean leave(Ticket ticket) {
		return this.turns.leave(ticket);
	}

	/**
	 * Gives back what a call has taken with which no request was sent. Never lifts a
	 * bucket above its capacity.
	 * @param permit the call's permit
	 */
	public void giveBack(Permit permit) {
		this.meters.putBack(permit, this.time.nanoTime());
		this.turns.serveIfAnybodyWaits();
	}

	/**
	 * Tells that an attempt is being sent.
	 * @param permit the call's permit
	 * @param now the monotonic clock, in nanoseconds
	 */
	public void onSend(Permit permit, long now) {
		permit.sent = now;
		this.meters.onSend(permit, now);
	}

	/**
	 * Tells that an attempt has succeeded.
	 * @param permit the call's permit
	 * @param usage the tokens that it has used, or {@code null} if unknown
	 */
	public void onSuccess(Permit permit, @Nullable TokenUsage usage) {
		boolean sooner = this.meters.onEnd(permit, this.time);
		if (usage != null && countsTokens()) {
			this.turns.lock().lock();
			try {
				this.meters.settle(permit, usage, this.time.nanoTime());
			}
			finally {
				this.turns.lock().unlock();
			}
			sooner = true;
		}
		if (sooner) {
			this.turns.serveIfAnybodyWaits();
		}
	}

	/**
	 * Tells that an attempt has failed, other than by the rate.
	 * @param permit the call's permit
	 * @param counted whether the provider may have counted its tokens
	 */
	public void onFailure(Permit permit, boolean counted) {
		boolean sooner = this.meters.onEnd(permit, this.time);
		if (!counted && countsTokens()) {
			this.turns.lock().lock();
			try {
				this.meters.unused(permit, this.meters.requests(), this.time.nanoTime());
			}
			finally {
				this.turns.lock().unlock();
			}
			sooner = true;
		}
		if (sooner) {
			this.turns.serveIfAnybodyWaits();
		}
	}

	/**
	 * Tells that the provider has rejected an attempt because of its rate. The call is
	 * expected to be {@linkplain #back back}.
	 * @param permit the call's permit
	 * @param hintNanos when the provider said to come back, in nanoseconds from now, or
	 * -1 if it said nothing
	 * @param limits what it said about its limits
	 * @return how long the call should stay away, in nanoseconds
	 */
	public long onRejected(Permit permit, long hintNanos, List<RateLimitSnapshot> limits) {
		this.meters.onEnd(permit, this.time);
		long silence = (long) (SILENT_HINT_NANOS * (0.5 + this.time.random() / 2));
		long wait;
		this.turns.lock().lock();
		try {
			long now = this.time.nanoTime();
			this.turns.adjust(now);
			Meter scarce = this.meters.scarcest(limits, permit, now);
			if (scarce.learns()) {
				this.turns.away(permit);
				Reaction reaction = scarce.rejected(permit, hintNanos, silence, now);
				wait = Math.max(0, reaction.freeAt() - now);
			}
			else {
				wait = (hintNanos >= 0) ? hintNanos : silence;
				scarce.pause(now + wait);
			}
			this.meters.unused(permit, scarce, now);
			this.meters.follow(permit.sent, limits, true, now);
		}
		finally {
			this.turns.lock().unlock();
		}
		this.turns.serveIfAnybodyWaits();
		return wait;
	}

	/**
	 * Tells that a call which stayed away after a rejection is back, or will never be.
	 * Without effect for one that did not.
	 * @param permit the call's permit
	 */
	public void back(Permit permit) {
		this.turns.back(permit);
	}

	/**
	 * Tells what a response said about the provider's limits.
	 * @param sent when its request was sent, on the monotonic clock, in nanoseconds
	 * @param limits what it said
	 */
	public void onLimits(long sent, List<RateLimitSnapshot> limits) {
		if (limits.isEmpty() || this.meters.areOff()) {
			return;
		}
		this.turns.lock().lock();
		try {
			long now = this.time.nanoTime();
			this.turns.adjust(now);
			this.meters.follow(sent, limits, false, now);
		}
		finally {
			this.turns.lock().unlock();
		}
		this.turns.serveIfAnybodyWaits();
	}

	/**
	 * Refuses those of an owner who wait because the circuit breaker lets nobody pass.
	 * @param owner the owner
	 */
	public void refuseWaiting(Object owner) {
		this.turns.refuse((ticket) -> ticket.permit().owner == owner, State.REFUSED_BREAKER);
	}

	/**
	 * Refuses all who wait, and everybody from now on.
	 */
	public void close() {
		this.turns.close();
	}

	/**
	 * Shows what holds right now.
	 * @return all of it as of one moment
	 */
	public LimiterSnapshot snapshot() {
		this.turns.lock().lock();
		try {
			Double perSecond = this.meters.requests().pace().configured();
			return new LimiterSnapshot(
					(perSecond != null) ? perSecond * SECONDS_PER_MINUTE / this.settings.share() : null,
					this.meters.snapshots(this.time), waiting(), this.meters.callsInFlight());
		}
		finally {
			this.turns.lock().unlock();
		}
	}

	/**
	 * How many calls wait.
	 * @return the number
	 */
	public int waiting() {
		return this.turns.waiting();
	}

	/**
	 * How many calls have a place in flight, where those are limited.
	 * @return the number
	 */
	public int inFlight() {
		return this.meters.places().taken();
	}

	/**
	 * How many calls could leave at once as far as the limit on calls goes.
	 * @return the number, with its fraction; infinite if every call passes
	 */
	public double level() {
		return level(Dimension.REQUESTS);
	}

	/**
	 * What could be used at once.
	 * @param dimension of calls, or of tokens of a kind
	 * @return calls or tokens, never negative; infinite if it is not limited
	 */
	public double level(Dimension dimension) {
		return this.meters.of(dimension).level(this.time.nanoTime());
	}

}
