package dev.llmresilience.failure;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * The words that everybody may use: those of all dialects that others imitate or pass on,
 * and the commonest of gateways (LiteLLM, New API) and model servers (vLLM, llama.cpp).
 * They judge providers of unknown dialect, and stand behind the words of each known one,
 * for what a gateway in front of it has to say.
 * <p>
 * Not among them are words that mean something else elsewhere.
 */
final class GenericRules implements ProviderRules {

	private static final List<ProviderRules> DIALECTS = List.of(new OpenAiRules(), new AnthropicRules(),
			new OpenRouterRules(), new GoogleRules(), new BedrockRules(), new AzureOpenAiRules(), new MistralRules(),
			new DeepSeekRules(), new XaiRules());

	private static final CodeTable CODES = new CodeTable(Map.ofEntries(
			Map.entry("throttling_error", FailureKind.RATE_LIMITED),
			Map.entry("ratelimiterror", FailureKind.RATE_LIMITED),
			Map.entry("rate_limit_reached_error", FailureKind.RATE_LIMITED),
			Map.entry("engine_overloaded_error", FailureKind.OVERLOADED),
			Map.entry("overloaded", FailureKind.OVERLOADED), Map.entry("capacity_exceeded", FailureKind.OVERLOADED),
			Map.entry("contextwindowexceedederror", FailureKind.TOO_LARGE),
			Map.entry("exceed_context_size_error", FailureKind.TOO_LARGE),
			Map.entry("internal_server_error", FailureKind.SERVER_ERROR)));

	private static final Map<String, LatchScope> MONEY = Map.of("insufficient_balance", LatchScope.ACCOUNT,
			"insufficient_user_quota", LatchScope.ACCOUNT, "exceeded_current_quota_error", LatchScope.ACCOUNT,
			"budget_exceeded", LatchScope.PROVIDER);

	private final List<ProviderRules> rules;

	private final @Nullable String resetHeader;

	/**
	 * Creates the rules of one provider type.
	 * @param own the words of its own, which are asked first
	 */
	GenericRules(ProviderRules... own) {
		List<ProviderRules> first = List.of(own);
		Stream<ProviderRules> others = DIALECTS.stream()
			.filter((dialect) -> first.stream().noneMatch((rules) -> rules.getClass() == dialect.getClass()));
		this.rules = Stream.concat(first.stream(), others).toList();
		this.resetHeader = first.isEmpty() ? null : first.get(0).resetHeader();
	}

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		for (ProviderRules dialect : this.rules) {
			FailureKind kind = dialect.kind(status, body);
			if (kind != null) {
				return kind;
			}
		}
		return CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		for (ProviderRules dialect : this.rules) {
			Quota quota = dialect.quota(status, body);
			if (quota != null) {
				return quota;
			}
		}
		String code = body.codeIn(MONEY.keySet());
		return (code != null) ? new Quota(code, MONEY.getOrDefault(code, LatchScope.ACCOUNT)) : null;
	}

	@Override
	public @Nullable String resetHeader() {
		return this.resetHeader;
	}

}
