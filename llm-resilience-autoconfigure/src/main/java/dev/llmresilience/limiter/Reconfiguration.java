package dev.llmresilience.limiter;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import org.jspecify.annotations.Nullable;

/**
 * What changes from some settings to others. Immutable.
 */
final class Reconfiguration {

	private final Map<Dimension, @Nullable Limit> changed = new EnumMap<>(Dimension.class);

	private final LimiterSettings after;

	/**
	 * Compares settings.
	 * @param before those that hold
	 * @param after those that are to
	 * @throws IllegalArgumentException if a value is out of its range
	 */
	Reconfiguration(LimiterSettings before, LimiterSettings after) {
		this.after = after;
		TokenLimits then = before.tokens();
		TokenLimits now = after.tokens();
		compare(Dimension.REQUESTS, Limit.ofRequests(before), Limit.ofRequests(after));
		compare(Dimension.TOKENS, Limit.ofTokens(then.perMinute(), before), Limit.ofTokens(now.perMinute(), after));
		compare(Dimension.INPUT_TOKENS, Limit.ofTokens(then.inputPerMinute(), before),
				Limit.ofTokens(now.inputPerMinute(), after));
		compare(Dimension.OUTPUT_TOKENS, Limit.ofTokens(then.outputPerMinute(), before),
				Limit.ofTokens(now.outputPerMinute(), after));
	}

	private void compare(Dimension dimension, @Nullable Limit before, @Nullable Limit after) {
		if (!Objects.equals(before, after)) {
			this.changed.put(dimension, after);
		}
	}

	/**
	 * Makes the change.
	 * @param meters what it concerns; nothing does where they are off
	 * @param now the clock
	 * @throws IllegalArgumentException if the number of places is out of its range
	 */
	void apply(Meters meters, long now) {
		if (meters.areOff()) {
			return;
		}
		meters.places().configure(this.after.maxConcurrentCalls());
		meters.settings(this.after);
		this.changed.forEach((dimension, limit) -> meters.configure(dimension, limit, now));
	}

}
