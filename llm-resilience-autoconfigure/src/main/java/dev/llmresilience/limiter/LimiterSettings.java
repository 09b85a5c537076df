package dev.llmresilience.limiter;

import java.time.Duration;

import dev.llmresilience.limiter.Ticket.State;
import org.jspecify.annotations.Nullable;

/**
 * How a limiter paces calls. Immutable.
 *
 * @param mode how it paces
 * @param requestsPerMinute the rate, above 0, decimals allowed; {@code null} lets every
 * call pass at once
 * @param burst calls that may leave at once after a pause, at least 1; {@code null} for
 * one second's worth of the rate, at least 1
 * @param share the part of all rates, configured or announced, that is for this process,
 * above 0 and at most 1
 * @param initialLevel calls that may leave at once at the start, from 0 to the burst;
 * {@code null} for a full bucket
 * @param tokens how many tokens may be used
 * @param maxConcurrentCalls the most calls in flight, at least 1; {@code null} for no
 * limit
 * @param maxWait the longest that a call waits for its place; {@code null} for the time
 * that the call has left
 * @param maxWaiting the most calls that wait; {@code null} for no limit
 * @param networkMargin how long after the first call of a burst the provider's bucket is
 * taken to begin refilling, unless an answer comes sooner
 */
public record LimiterSettings(LimiterMode mode, @Nullable Double requestsPerMinute, @Nullable Integer burst,
		double share, @Nullable Double initialLevel, TokenLimits tokens, @Nullable Integer maxConcurrentCalls,
		@Nullable Duration maxWait, @Nullable Integer maxWaiting, Duration networkMargin) {

	/** The built-in values: no rate until one has been learnt. */
	public static final LimiterSettings DEFAULTS = new LimiterSettings(LimiterMode.ADAPTIVE, null, null, 1, null,
			TokenLimits.NONE, null, null, null, Duration.ofMillis(50));

	/**
	 * The calls that this process may send at once after a pause: its share of the burst.
	 * @return the number, at least 1, or {@code null} with neither rate nor burst
	 */
	public @Nullable Double bucketSize() {
		if (this.requestsPerMinute == null && this.burst == null) {
			return null;
		}
		return Limit.calls((this.requestsPerMinute != null) ? this.requestsPerMinute : 0, this);
	}

	/**
	 * Whether a wait is allowed.
	 * @param needed the wait, in nanoseconds
	 * @param left the time that the call has left, in nanoseconds
	 * @param waiting how many wait already
	 * @return why not, or {@link State#WAITING}
	 */
	State refusal(long needed, long left, int waiting) {
		if (this.maxWaiting != null && waiting >= this.maxWaiting) {
			return State.REFUSED_MAX_WAITING;
		}
		if (this.maxWait != null && needed > this.maxWait.toNanos()) {
			return State.REFUSED_MAX_WAIT;
		}
		return (needed > left) ? State.REFUSED_DEADLINE : State.WAITING;
	}

	/**
	 * How long a call may wait.
	 * @param left the time that it has left, in nanoseconds
	 * @return nanoseconds
	 */
	long patience(long left) {
		return (this.maxWait != null) ? Math.min(this.maxWait.toNanos(), left) : left;
	}

	/**
	 * Returns a copy of another mode.
	 * @param mode how it paces
	 * @return the copy
	 */
	public LimiterSettings withMode(LimiterMode mode) {
		return new LimiterSettings(mode, this.requestsPerMinute, this.burst, this.share, this.initialLevel, this.tokens,
				this.maxConcurrentCalls, this.maxWait, this.maxWaiting, this.networkMargin);
	}

	/**
	 * Returns a copy with another rate.
	 * @param requestsPerMinute the rate, or {@code null} for none
	 * @param burst calls that may leave at once, or {@code null} for one second's worth
	 * @return the copy
	 */
	public LimiterSettings withRate(@Nullable Double requestsPerMinute, @Nullable Integer burst) {
		return new LimiterSettings(this.mode, requestsPerMinute, burst, this.share, this.initialLevel, this.tokens,
				this.maxConcurrentCalls, this.maxWait, this.maxWaiting, this.networkMargin);
	}

	/**
	 * Returns a copy with another start.
	 * @param share the part of all rates that is for this process
	 * @param initialLevel calls that may leave at once at the start, or {@code null} for
	 * a full bucket
	 * @return the copy
	 */
	public LimiterSettings withShare(double share, @Nullable Double initialLevel) {
		return new LimiterSettings(this.mode, this.requestsPerMinute, this.burst, share, initialLevel, this.tokens,
				this.maxConcurrentCalls, this.maxWait, this.maxWaiting, this.networkMargin);
	}

	/**
	 * Returns a copy with other limits on tokens.
	 * @param tokens how many may be used
	 * @return the copy
	 */
	public LimiterSettings withTokens(TokenLimits tokens) {
		return new LimiterSettings(this.mode, this.requestsPerMinute, this.burst, this.share, this.initialLevel, tokens,
				this.maxConcurrentCalls, this.maxWait, this.maxWaiting, this.networkMargin);
	}

	/**
	 * Returns a copy with another limit on calls in flight.
	 * @param maxConcurrentCalls the most calls in flight, or {@code null} for no limit
	 * @return the copy
	 */
	public LimiterSettings withMaxConcurrentCalls(@Nullable Integer maxConcurrentCalls) {
		return new LimiterSettings(this.mode, this.requestsPerMinute, this.burst, this.share, this.initialLevel,
				this.tokens, maxConcurrentCalls, this.maxWait, this.maxWaiting, this.networkMargin);
	}

	/**
	 * Returns a copy with other limits on waiting.
	 * @param maxWait the longest wait, or {@code null} for the time left
	 * @param maxWaiting the most calls that wait, or {@code null} for no limit
	 * @return the copy
	 */
	public LimiterSettings withWaiting(@Nullable Duration maxWait, @Nullable Integer maxWaiting) {
		return new LimiterSettings(this.mode, this.requestsPerMinute, this.burst, this.share, this.initialLevel,
				this.tokens, this.maxConcurrentCalls, maxWait, maxWaiting, this.networkMargin);
	}

	/**
	 * Returns a copy with another network margin.
	 * @param networkMargin when the provider's bucket is taken to begin refilling
	 * @return the copy
	 */
	public LimiterSettings withNetworkMargin(Duration networkMargin) {
		return new LimiterSettings(this.mode, this.requestsPerMinute, this.burst, this.share, this.initialLevel,
				this.tokens, this.maxConcurrentCalls, this.maxWait, this.maxWaiting, networkMargin);
	}

	/**
	 * How many tokens may be used. Each limit is a bucket that holds one minute's worth.
	 *
	 * @param perMinute tokens of requests and answers together, above 0; {@code null} for
	 * no limit
	 * @param inputPerMinute tokens of requests, above 0; {@code null} for no limit
	 * @param outputPerMinute tokens of answers, above 0; {@code null} for no limit
	 * @param defaultTokens what a call is taken to use, input and output together, where
	 * nothing estimates it, above 0; {@code null} for what calls have lately used
	 */
	public record TokenLimits(@Nullable Double perMinute, @Nullable Double inputPerMinute,
			@Nullable Double outputPerMinute, @Nullable Long defaultTokens) {

		/** No limits. */
		public static final TokenLimits NONE = new TokenLimits(null, null, null, null);

	}

}
