package dev.llmresilience.failure;

import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * The words of a provider of unknown dialect: the two dialects that most others imitate,
 * and the commonest words of gateways.
 */
final class GenericRules implements ProviderRules {

	private static final List<ProviderRules> DIALECTS = List.of(new OpenAiRules(), new AnthropicRules());

	private static final Map<String, FailureKind> KINDS = Map.ofEntries(
			Map.entry("openrouter_in_flight_budget", FailureKind.RATE_LIMITED),
			Map.entry("in_flight_budget_exhausted", FailureKind.RATE_LIMITED),
			Map.entry("resource_exhausted", FailureKind.RATE_LIMITED),
			Map.entry("rate_limited", FailureKind.RATE_LIMITED),
			Map.entry("too_many_requests", FailureKind.RATE_LIMITED),
			Map.entry("provider_overloaded", FailureKind.OVERLOADED),
			Map.entry("capacity_exceeded", FailureKind.OVERLOADED),
			Map.entry("payload_too_large", FailureKind.TOO_LARGE));

	private static final Set<String> MONEY = Set.of("payment_required");

	// Budgets of calls in flight, which are free again when those calls end
	// (OpenRouter's errors page); both share the status and type of an empty purse.
	private static final Set<String> PASSING = Set.of("openrouter_in_flight_budget", "in_flight_budget_exhausted");

	@Override
	public @Nullable FailureKind kind(ErrorBody body) {
		if (body.codeIn(PASSING) != null) {
			return FailureKind.RATE_LIMITED;
		}
		for (ProviderRules dialect : DIALECTS) {
			FailureKind kind = dialect.kind(body);
			if (kind != null) {
				return kind;
			}
		}
		return body.meaning(KINDS);
	}

	@Override
	public @Nullable Quota quota(ErrorBody body) {
		if (body.codeIn(PASSING) != null) {
			return null;
		}
		for (ProviderRules dialect : DIALECTS) {
			Quota quota = dialect.quota(body);
			if (quota != null) {
				return quota;
			}
		}
		String code = body.codeIn(MONEY);
		return (code != null) ? new Quota(code, LatchScope.ACCOUNT) : null;
	}

}
