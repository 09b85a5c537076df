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

	private Band band = Band.NONE;

	/** Whether its lower bound says something too. */
	private boolean told;

	/** As long as it does not: the rate by the last response alone. */
	private double guess = Double.POSITIVE_INFINITY;

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
	 * @param provesRoom whether calls may leave as far as what remains allows, whatever
	 * the rate
	 * @return whether this response is not older than what is held
	 */
	boolean update(RateLimitSnapshot snapshot, long sent, boolean provesRoom) {
		if (this.heardOf != null && sent - this.heardOf < 0) {
			return false;
		}
		this.heardOf = sent;
		double used = snapshot.limit() - snapshot.remaining();
		double reset = snapshot.reset().toNanos() / SECOND;
		this.lastsFor = snapshot.remaining() / Math.max(reset, 1e-9);
		this.moved = false;
		if (used > 0 && reset > 0) {
			double least = reset - snapshot.resolution().toNanos() / SECOND;
			Band said = new Band(Math.max(0, used - 1) / reset, used / Math.max(least, 1e-9));
			boolean telling = used > 1 && (!said.isRough() || used >= TELLING * snapshot.limit());
			boolean falls = said.high() < this.band.low();
			// A call that a bucket of one rejects is told the same as one that empties
			// it.
			if (telling || (snapshot.limit() > 1 && (falls || !this.told))) {
				this.moved = telling ? !this.told || !said.meets(this.band) : falls;
				this.band = said.meet(this.band);
				this.told = telling;
				this.guess = (least > 0) ? used / least : Math.max(used / reset, provesRoom ? 0 : this.lastsFor);
			}
		}
		return true;
	}

	/**
	 * The rate of this process, in units a second: the middle of the bounds, or the lower
	 * one where they are rough, or about the upper one while that says nothing.
	 * <p>
	 * A configured rate holds as long as nothing that was said speaks against it. A lower
	 * one only does as far as what remains would not last until it is reset: it may be
	 * that of a longer window, or of one that begins anew all at once.
	 * @param configured the configured limit, or {@code null} for none
	 * @return the rate, infinite if nothing is known
	 */
	double perSecond(@Nullable Limit configured) {
		Band band = this.band;
		double rate = !band.isRough() ? band.middle() : this.told ? band.low() : Math.min(band.high(), this.guess);
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
