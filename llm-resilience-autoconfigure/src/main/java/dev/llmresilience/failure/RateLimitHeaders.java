package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a response's headers say about the provider's limits, each family of headers
 * only for the types of provider that send it. The window of a limit is not assumed, and
 * differs: Groq counts requests a day and tokens a minute under names that are OpenAI's.
 * Nothing here throws; a dimension of which a part is missing, malformed or contradicts
 * another (Azure sends {@code -1} of {@code -1} for what it does not count) is left out.
 * Stateless.
 */
public final class RateLimitHeaders {

	// The longest window that a provider is known to count in is a month.
	private static final Duration LONGEST = Duration.ofDays(31);

	private static final List<Names> ANTHROPIC = List.of(anthropic("requests", Dimension.REQUESTS),
			anthropic("tokens", Dimension.TOKENS), anthropic("input-tokens", Dimension.INPUT_TOKENS),
			anthropic("output-tokens", Dimension.OUTPUT_TOKENS));

	// Older accounts of OpenAI have the last one.
	private static final List<Names> OPENAI = List.of(openAi("requests", Dimension.REQUESTS),
			openAi("tokens", Dimension.TOKENS), openAi("tokens_usage_based", Dimension.TOKENS));

	private static final List<Names> MISTRAL = List
		.of(new Names(Dimension.TOKENS, "ratelimitbysize-limit", "ratelimitbysize-remaining", "ratelimitbysize-reset"));

	private static final List<Names> PLAIN = List
		.of(new Names(Dimension.REQUESTS, "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"));

	private static final List<Names> ANY = Stream.of(ANTHROPIC, OPENAI, PLAIN).flatMap(List::stream).toList();

	// Gateways add the policies that lead to the limit in force:
	// "1000, 1000;w=1, 60000;w=60".
	private static final Pattern LIMIT = Pattern.compile("(\\d{1,15})\\s{0,9}(?:,\\s{0,9}\\d{1,15}\\s{0,9};.*)?");

	private static final Pattern COUNT = Pattern.compile("(\\d{1,15})");

	private RateLimitHeaders() {
	}

	/**
	 * Reads the headers of a response, of success or failure.
	 * @param type who sent it
	 * @param headers the values of the header of a name, in any case; empty for an absent
	 * one
	 * @param now the wall clock, which a reset given as an instant is compared with if
	 * the response has no date of its own
	 * @return at most one snapshot of each dimension, empty if the headers say nothing
	 */
	public static List<RateLimitSnapshot> read(ProviderType type, Function<String, List<String>> headers, Instant now) {
		List<RateLimitSnapshot> snapshots = new ArrayList<>();
		for (Names names : names(type)) {
			RateLimitSnapshot snapshot = read(names, headers, now);
			if (snapshot != null && snapshots.stream().noneMatch((other) -> other.dimension() == names.dimension())) {
				snapshots.add(snapshot);
			}
		}
		return List.copyOf(snapshots);
	}

	private static List<Names> names(ProviderType type) {
		return switch (type) {
			case ANTHROPIC -> ANTHROPIC;
			case OPENAI, AZURE_OPENAI, GROQ, XAI -> OPENAI;
			case MISTRAL -> MISTRAL;
			// Only with its own 429s.
			case OPENROUTER -> PLAIN;
			case GENERIC -> ANY;
			case GOOGLE, BEDROCK, COHERE, DEEPSEEK, OLLAMA -> List.of();
		};
	}

	private static @Nullable RateLimitSnapshot read(Names names, Function<String, List<String>> headers, Instant now) {
		long limit = number(LIMIT, only(headers, names.limit()));
		if (limit <= 0) {
			return null;
		}
		long remaining = number(COUNT, only(headers, names.remaining()));
		String text = only(headers, names.reset());
		if (remaining < 0 || remaining > limit || text == null) {
			return null;
		}
		Instant instant = ResetTimes.instant(text);
		Instant date = (instant != null) ? date(headers, now) : null;
		Duration reset = (instant != null) ? Duration.between((date != null) ? date : now, instant)
				: ResetTimes.until(text, now);
		if (reset == null || reset.compareTo(LONGEST) > 0) {
			return null;
		}
		if (reset.compareTo(Duration.ZERO) <= 0) {
			if (remaining < limit) {
				// Something is used, and nothing has yet to come back: one of them is
				// wrong.
				return null;
			}
			reset = Duration.ZERO;
		}
		return new RateLimitSnapshot(names.dimension(), limit, remaining, reset,
				(instant != null) ? resolution(instant, date != null) : Durations.resolution(text));
	}

	/** The value of a header; two values contradict each other. */
	private static @Nullable String only(Function<String, List<String>> headers, String name) {
		List<String> values = headers.apply(name);
		return (values.size() == 1) ? values.get(0) : null;
	}

	private static long number(Pattern pattern, @Nullable String value) {
		if (value == null) {
			return -1;
		}
		Matcher number = pattern.matcher(value.strip());
		return number.matches() ? Long.parseLong(number.group(1)) : -1;
	}

	/** When the response was sent, by the clock that its instants are read off. */
	private static @Nullable Instant date(Function<String, List<String>> headers, Instant now) {
		String value = only(headers, "date");
		return (value != null) ? HttpDates.instant(value, now) : null;
	}

	/** A date is up to a second older than the response, which comes on top. */
	private static Duration resolution(Instant instant, boolean sinceDate) {
		long fraction = instant.getLong(ChronoField.NANO_OF_SECOND);
		long unit = 1_000_000_000;
		while (fraction % unit != 0) {
			unit /= 10;
		}
		return Duration.ofNanos(sinceDate ? unit + 1_000_000_000 : unit);
	}

	private static Names anthropic(String counted, Dimension dimension) {
		String prefix = "anthropic-ratelimit-" + counted;
		return new Names(dimension, prefix + "-limit", prefix + "-remaining", prefix + "-reset");
	}

	private static Names openAi(String counted, Dimension dimension) {
		return new Names(dimension, "x-ratelimit-limit-" + counted, "x-ratelimit-remaining-" + counted,
				"x-ratelimit-reset-" + counted);
	}

	/** The three headers of a dimension. */
	private record Names(Dimension dimension, String limit, String remaining, String reset) {
	}

}
