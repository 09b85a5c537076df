package dev.llmresilience.limiter;

import dev.llmresilience.RateLimitSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * The rate that follows from what responses say about a limit: what has been used of it
 * comes back by its reset. Providers round {@code remaining} down and {@code reset} up,
 * so that one response only says where the rate lies, and several close in on it. Nothing
 * is assumed about the window, which is a day at some.
 * <p>
 * Not thread-safe: changed under the limiter's lock.
 */
final class AnnouncedRate {

	private static final double SECOND = 1e9;

	/** From so much of the limit on, even a rough bound says something. */
	private static final double TELLING = 0.1;

	/** Bounds further apart are rough. */
	private static final double ROUGH = 1.5;

	private Band band = Band.NONE;

	private boolean moved;

	private final double share;

	/** When the request was sent whose response spoke last. */
	private @Nullable Long heardOf;

	/** The rate that what remains lasts for until it is reset. */
	private double lastsFor;

	/**
	 * Creates a rate that nobody has announced yet.
	 * @param share the part of it that is for this process
	 */
	AnnouncedRate(double share) {
		this.share = share;
	}

	/**
	 * Takes a response in.
	 * @param snapshot what it said
	 * @param sent when its request was sent
	 * @return whether the rate is known, and this response is not older than what is held
	 */
	boolean update(RateLimitSnapshot snapshot, long sent) {
		if (this.heardOf != null && sent - this.heardOf < 0) {
			return false;
		}
		this.heardOf = sent;
		double used = snapshot.limit() - snapshot.remaining();
		double reset = snapshot.reset().toNanos() / SECOND;
		this.lastsFor = snapshot.remaining() / Math.max(reset, 1e-9);
		this.moved = false;
		if (used > 1 && reset > 0) {
			double low = (used - 1) / reset;
			double high = used / Math.max(reset - snapshot.resolution().toNanos() / SECOND, 1e-9);
			boolean rough = high >= ROUGH * low;
			if (!rough || used >= TELLING * snapshot.limit()) {
				Band said = new Band(low, high);
				this.moved = !said.meets(this.band);
				this.band = said.meet(this.band);
			}
		}
		return this.band.isKnown();
	}

	/**
	 * The rate of this process, in units a second: the middle of the bounds, or the lower
	 * one where they are rough.
	 * <p>
	 * A configured rate holds as long as nothing that was said speaks against it. A lower
	 * one only does as far as what remains would not last until it is reset: it may be
	 * that of a longer window, or of one that begins anew all at once.
	 * @param configured the configured limit, or {@code null} for none
	 * @return the rate
	 */
	double perSecond(@Nullable Limit configured) {
		Band band = this.band;
		double rate = (band.high() < ROUGH * band.low()) ? band.middle() : band.low();
		if (configured != null) {
			double expected = configured.perSecond() / this.share;
			if (band.low() <= expected && expected <= Math.max(band.high(), this.lastsFor)) {
				return configured.perSecond();
			}
			rate = Math.max(rate, Math.min(expected, this.lastsFor));
		}
		return this.share * rate;
	}

	/** Whether the last response does not fit what those before it said. */
	boolean hasMoved() {
		return this.moved;
	}

}
