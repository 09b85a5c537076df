package dev.llmresilience.failure;

import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * DeepSeek's words, beyond OpenAI's, which it speaks. An empty balance has no code of its
 * own, and gateways pass it on under other statuses than its 402.
 */
final class DeepSeekRules implements ProviderRules {

	private static final Pattern BALANCE = Pattern.compile("^insufficient balance",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return null;
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return (body.text().contains("insufficient balance") && BALANCE.matcher(body.text()).find()) ? Quota.UNCODED
				: null;
	}

}
