package dev.llmresilience.failure;

import java.util.Map;
import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * xAI's words. Its bodies are flat and their code is a sentence; a wrong key is answered
 * with a 400, and a spend limit with a 403 or 429 (continuedev/continue#10373).
 */
final class XaiRules implements ProviderRules {

	private static final CodeTable CODES = new CodeTable(
			Map.of("some resource has been exhausted", FailureKind.RATE_LIMITED, "resource-exhausted",
					FailureKind.RATE_LIMITED, "the service is currently unavailable", FailureKind.OVERLOADED,
					"unauthenticated:bad-credentials", FailureKind.UNAUTHORIZED));

	private static final Pattern WRONG_KEY = Pattern.compile("^(?:incorrect|invalid) api key\\b",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	private static final Pattern MONEY_TEXT = Pattern.compile(
			"\\bused all available credits or reached its monthly spending limit\\b"
					+ "|^you have run out of credits\\b|^your newly created team doesn't have any credits\\b",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		if (status == 400 && WRONG_KEY.matcher(body.text()).find()) {
			return FailureKind.UNAUTHORIZED;
		}
		return CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return (body.text().contains("credits") && MONEY_TEXT.matcher(body.text()).find()) ? Quota.UNCODED : null;
	}

}
