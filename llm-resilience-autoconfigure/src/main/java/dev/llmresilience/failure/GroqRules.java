package dev.llmresilience.failure;

import java.util.Map;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * Groq's words, beyond OpenAI's, which it speaks: its errors page and its page on spend
 * limits. Its 498 is a shortage of the flex tier, at others an invalid token.
 */
final class GroqRules implements ProviderRules {

	private static final CodeTable CODES = new CodeTable(
			Map.of("capacity_exceeded", FailureKind.OVERLOADED, "organization_restricted", FailureKind.UNAUTHORIZED));

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return (status == 498) ? FailureKind.OVERLOADED : CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		// The organisation's monthly spend limit.
		return body.has("blocked_api_access") ? new Quota("blocked_api_access", LatchScope.ACCOUNT) : null;
	}

}
