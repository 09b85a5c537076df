package dev.llmresilience.autoconfigure;

import java.math.BigDecimal;
import java.util.Locale;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.Limiter;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import org.jspecify.annotations.Nullable;

/**
 * Makes complete limiter settings of what is configured. A value can be allowed and still
 * never work beside another, perhaps inherited, one: that stops the start too.
 */
final class LimiterSettingsFactory {

	/** What the initial level may be. */
	static final String LEVELS = "must be full, empty, or a number of calls from 0 to the burst";

	private final String entry;

	private final Source<Limiter> source;

	private LimiterSettingsFactory(String entry, Source<Limiter> source) {
		this.entry = entry;
		this.source = source;
	}

	/**
	 * Checks the values against each other and fills in what is not set.
	 * @param entry the name of the entry
	 * @param source its values and the inherited ones, each allowed by itself
	 * @return the settings
	 * @throws InvalidPropertyException if a value cannot work beside another
	 */
	static LimiterSettings create(String entry, Source<Limiter> source) {
		return new LimiterSettingsFactory(entry, source).create();
	}

	/**
	 * Whether a text is an initial level of some burst.
	 * @param text the text
	 * @return whether it is {@code full}, {@code empty} or a number from 0
	 */
	static boolean isLevel(String text) {
		Double calls = calls(text);
		return calls == null || calls >= 0;
	}

	private LimiterSettings create() {
		LimiterSettings built = LimiterSettings.DEFAULTS;
		double share = this.source.get(Limiter::share, built.share());
		LimiterSettings rated = built.withMode(this.source.get(Limiter::mode, built.mode()))
			.withRate(this.source.find(Limiter::requestsPerMinute), this.source.find(Limiter::burst))
			.withShare(share, null);
		return rated.withShare(share, initialLevel(rated.bucketSize()))
			.withTokens(tokens(share))
			.withMaxConcurrentCalls(this.source.find(Limiter::maxConcurrentCalls))
			.withWaiting(this.source.find(Limiter::maxWait), this.source.find(Limiter::maxWaiting))
			.withNetworkMargin(this.source.get(Limiter::networkMargin, built.networkMargin()));
	}

	private @Nullable Double initialLevel(@Nullable Double burst) {
		String text = this.source.find(Limiter::initialLevel);
		Double calls = (text != null) ? calls(text) : null;
		if (calls != null && burst != null && calls > burst) {
			throw conflict("initial-level", Limiter::initialLevel, text,
					LEVELS + ", which is " + plain(burst) + " for '" + this.entry + "'",
					"Lower it, or raise the burst.");
		}
		return calls;
	}

	private TokenLimits tokens(double share) {
		Double perMinute = this.source.find(Limiter::tokensPerMinute);
		Long each = this.source.find(Limiter::defaultTokens);
		if (perMinute != null && each != null && each > perMinute * share) {
			throw conflict("default-tokens", Limiter::defaultTokens, each,
					"must be at most the tokens-per-minute, of which '" + this.entry + "' has "
							+ plain(perMinute * share) + " in this process",
					"Lower it, or raise tokens-per-minute: a call of more tokens could never be made.");
		}
		return new TokenLimits(perMinute, this.source.find(Limiter::inputTokensPerMinute),
				this.source.find(Limiter::outputTokensPerMinute), each);
	}

	private InvalidPropertyException conflict(String property, Source.Property<Limiter, ?> read, @Nullable Object value,
			String reason, String action) {
		String where = this.source.isOwn(read) ? this.entry : ProviderSettings.DEFAULT_NAME;
		return new InvalidPropertyException(ProviderNames.PROVIDERS + "." + where + ".limiter." + property, value,
				reason, action);
	}

	/** The number of calls, {@code null} for full, and NaN for what is no level. */
	private static @Nullable Double calls(String text) {
		String level = text.strip().toLowerCase(Locale.ROOT);
		if (level.equals("full")) {
			return null;
		}
		if (level.equals("empty")) {
			return 0.0;
		}
		try {
			double calls = new BigDecimal(level).doubleValue();
			return Double.isFinite(calls) ? calls : Double.NaN;
		}
		catch (NumberFormatException ex) {
			return Double.NaN;
		}
	}

	private static String plain(double number) {
		return BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
	}

}
