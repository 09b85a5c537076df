package dev.llmresilience.limiter;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.WaitingLine.Ahead;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * All that the provider limits, and the places in flight. A call leaves when it has
 * everything at once; what it could not use it puts back.
 * <p>
 * {@link #take}, {@link #putBack}, {@link #onSend} and {@link #onEnd} are lock-free;
 * everything else that changes something is called under the limiter's lock.
 */
final class Meters {

	private volatile LimiterSettings settings;

	/** None where the limiter is off. */
	private final Meter[] all;

	private final Meter requests;

	private final Places places;

	/** Those that a call has anything to do with at present, mostly one. */
	private volatile Meter[] working = {};

	private volatile boolean tokensCount;

	/**
	 * Creates meters with full buckets, or as full as the settings say.
	 * @param settings the limiter's settings
	 * @param now the clock
	 * @throws IllegalArgumentException if a value is out of its range
	 */
	Meters(LimiterSettings settings, long now) {
		TokenLimits tokens = settings.tokens();
		boolean off = settings.mode() == LimiterMode.OFF;
		Limit calls = off ? null : Limit.ofRequests(settings);
		this.settings = settings;
		this.requests = new Meter(Dimension.REQUESTS, 0, calls, settings, now);
		this.all = off ? new Meter[0]
				: new Meter[] { this.requests, meter(Dimension.TOKENS, 1, tokens.perMinute(), now),
						meter(Dimension.INPUT_TOKENS, 2, tokens.inputPerMinute(), now),
						meter(Dimension.OUTPUT_TOKENS, 3, tokens.outputPerMinute(), now) };
		this.places = new Places(off ? null : settings.maxConcurrentCalls());
		Double level = settings.initialLevel();
		if (level != null) {
			double part = (calls != null) ? Math.min(1, level / calls.capacity()) : Math.min(1, level);
			for (Meter meter : this.all) {
				meter.startAt(part, now);
			}
		}
		refresh();
	}

	/** Finds those that are working, after something has changed. */
	private void refresh() {
		Meter[] before = this.working;
		int count = 0;
		boolean same = true;
		boolean tokens = false;
		for (Meter meter : this.all) {
			if (meter.isWorking()) {
				same &= count < before.length && before[count] == meter;
				count++;
			}
			tokens |= meter != this.requests && meter.isActive();
		}
		if (!same || count != before.length) {
			this.working = Stream.of(this.all).filter(Meter::isWorking).toArray(Meter[]::new);
		}
		if (tokens != this.tokensCount) {
			this.tokensCount = tokens;
		}
	}

	private Meter meter(Dimension dimension, int index, @Nullable Double perMinute, long now) {
		return new Meter(dimension, index, Limit.ofTokens(perMinute, this.settings), this.settings, now);
	}

	Meter of(Dimension dimension) {
		for (Meter meter : this.all) {
			if (meter.dimension() == dimension) {
				return meter;
			}
		}
		return this.requests;
	}

	/** How many calls are under way, or {@code null} where nobody counts them. */
	@Nullable Long callsInFlight() {
		return this.places.areLimited() ? Long.valueOf(this.places.taken()) : this.requests.inFlight();
	}

	/**
	 * Shows the limits that hold right now.
	 * @param time the clock
	 * @return the limits, that on calls first
	 */
	List<LimitSnapshot> snapshots(TimeSource time) {
		return Stream.of(this.all)
			.map((meter) -> meter.pace().snapshot(meter.dimension(), time))
			.filter(Objects::nonNull)
			.toList();
	}

	Meter requests() {
		return this.requests;
	}

	Places places() {
		return this.places;
	}

	boolean areOff() {
		return this.all.length == 0;
	}

	boolean pace() {
		for (Meter meter : this.all) {
			if (paces(meter)) {
				return true;
			}
		}
		return false;
	}

	private static boolean paces(Meter meter) {
		return meter.learns() || meter.isActive();
	}

	boolean countTokens() {
		return this.tokensCount;
	}

	/**
	 * Guesses the tokens of a call for which nobody estimated them: no more than there
	 * can ever be.
	 * @param permit the call
	 */
	void estimate(Permit permit) {
		if (permit.tokens == 0 && countTokens()) {
			Long tokens = this.settings.tokens().defaultTokens();
			Meter meter = of(Dimension.TOKENS);
			permit.tokens = Math.min((tokens != null) ? tokens : meter.typical(), meter.capacity());
		}
	}

	/**
	 * Takes what a call needs, or nothing.
	 * @param permit the call
	 * @param waited whether it has waited for its turn
	 * @param now the clock
	 * @return whether it may leave
	 */
	boolean take(Permit permit, boolean waited, long now) {
		Meter[] working = this.working;
		permit.begin();
		if (!waited) {
			// The line counts what those who wait were estimated to use.
			estimate(permit);
		}
		for (int i = 0; i < working.length; i++) {
			if (!working[i].take(permit, waited, now)) {
				putBack(permit, working, i, now);
				return false;
			}
		}
		// Last, so that a place is only ever held by a call that leaves, whose end wakes
		// those who wait for it.
		if (!this.places.take(permit)) {
			putBack(permit, working, working.length, now);
			return false;
		}
		return true;
	}

	private static void putBack(Permit permit, Meter[] meters, int count, long now) {
		for (int i = 0; i < count; i++) {
			meters[i].putBack(permit, now);
		}
	}

	/**
	 * Puts back what a call has taken with which no request was sent.
	 * @param permit the call
	 * @param now the clock
	 */
	void putBack(Permit permit, long now) {
		Meter[] working = this.working;
		putBack(permit, working, working.length, now);
		this.places.giveBack(permit);
	}

	void onSend(Permit permit, long now) {
		for (Meter meter : this.working) {
			meter.onSend(permit, now);
		}
	}

	/**
	 * The request of a call is over, and so is its place in flight. The first answer of a
	 * burst shows that the provider's bucket has begun to refill, also for those who have
	 * yet to come.
	 * @param permit the call
	 * @param time the clock
	 * @return whether somebody may leave sooner now
	 */
	boolean onEnd(Permit permit, TimeSource time) {
		boolean sooner = this.places.giveBack(permit);
		for (Meter meter : this.working) {
			sooner |= meter.onEnd(permit, time);
		}
		return sooner;
	}

	void settle(Permit permit, TokenUsage usage, long now) {
		for (Meter meter : this.all) {
			meter.settle(permit, usage, now);
		}
	}

	/**
	 * A call was rejected, or failed, before it used anything.
	 * @param permit the call
	 * @param scarce what it was rejected for, which has learnt of it already
	 * @param now the clock
	 */
	void unused(Permit permit, Meter scarce, long now) {
		for (Meter meter : this.all) {
			if (meter != scarce) {
				meter.unused(permit, now);
			}
		}
	}

	boolean isTooLarge(Permit permit) {
		for (Meter meter : this.all) {
			if (meter.isTooLarge(permit)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * When a call could leave as far as rates go.
	 * @param permit the call
	 * @param ahead those before it
	 * @param now the clock
	 * @return the moment; now, if it could leave already
	 */
	long freeAt(Permit permit, Ahead ahead, long now) {
		long latest = now;
		for (Meter meter : this.all) {
			long free = meter.freeAt(permit, ahead, now);
			latest = (free - latest > 0) ? free : latest;
		}
		return latest;
	}

	/**
	 * How late the first in line may leave without loss to those behind it.
	 * @param at when it could leave
	 * @return nanoseconds: until half of what is missing in a bucket has come
	 */
	long spare(long at) {
		long least = Long.MAX_VALUE;
		for (Meter meter : this.all) {
			least = Math.min(least, meter.missing(at) / 2);
		}
		return least;
	}

	/**
	 * Notes what the first in line waits for, which is the only pace that may grow.
	 * @param permit the first in line
	 * @param at when it could leave
	 * @param now the clock
	 */
	void hold(Permit permit, long at, long now) {
		for (Meter meter : this.all) {
			meter.holds(at - now > 0 && meter.freeAt(permit, Ahead.NOBODY, now) == at);
		}
	}

	void holdNobody() {
		for (Meter meter : this.all) {
			meter.holds(false);
		}
	}

	/**
	 * Lets the paces follow what is known by now.
	 * @param idle whether nobody waits or stays away after a rejection
	 * @param now the clock
	 */
	void adjust(boolean idle, long now) {
		for (Meter meter : this.all) {
			meter.adjust(idle, now);
		}
		refresh();
	}

	/**
	 * Sets a configured limit anew.
	 * @param dimension what is limited
	 * @param limit the limit, or {@code null} for none
	 * @param now the clock
	 */
	void configure(Dimension dimension, @Nullable Limit limit, long now) {
		of(dimension).configure(limit, now);
		refresh();
	}

	void settings(LimiterSettings settings) {
		this.settings = settings;
	}

	void startOver(long now) {
		for (Meter meter : this.all) {
			meter.startOver(now);
		}
		refresh();
	}

	/**
	 * Guesses what a call was rejected for: what its response says did not suffice, or
	 * else what there was least of, among what paces or could learn to.
	 * @param limits what the response said
	 * @param permit the call
	 * @param now the clock
	 * @return the meter
	 */
	Meter scarcest(List<RateLimitSnapshot> limits, Permit permit, long now) {
		Meter scarcest = this.requests;
		double least = scarcest.fullness(now);
		for (Meter meter : this.all) {
			double fullness = meter.fullness(now);
			if (meter.isActive() && (fullness < least || !paces(scarcest))) {
				scarcest = meter;
				least = fullness;
			}
		}
		double lowest = 1;
		for (RateLimitSnapshot snapshot : limits) {
			Meter named = of(snapshot.dimension());
			double coverage = named.coverage(snapshot, permit);
			if (coverage < lowest && paces(named)) {
				scarcest = named;
				lowest = coverage;
			}
		}
		if (lowest == 1) {
			doubt(scarcest, limits, now);
		}
		return scarcest;
	}

	/** Nothing that was announced explains a rejection for what is scarce. */
	private static void doubt(Meter scarce, List<RateLimitSnapshot> limits, long now) {
		for (RateLimitSnapshot snapshot : limits) {
			if (snapshot.dimension() == scarce.dimension()) {
				scarce.pace().doubt(now);
			}
		}
	}

	/**
	 * Follows what a response said, and what may have been learnt just before.
	 * @param sent when its request was sent
	 * @param limits what it said
	 * @param rejected whether it was a rejection because of the rate
	 * @param now the clock
	 */
	void follow(long sent, List<RateLimitSnapshot> limits, boolean rejected, long now) {
		for (RateLimitSnapshot snapshot : limits) {
			of(snapshot.dimension()).announce(snapshot, sent, rejected, now);
		}
		refresh();
	}

}
