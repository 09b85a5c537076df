package dev.llmresilience.failure;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what providers' error bodies mean. It is 2026-10-01T00:00:00Z.
 */
class ProviderRulesTests {

	@ParameterizedTest(name = "{0} {1} {2} -> {3} ({4})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					400 |                       | invalid_request_error | bad                                                                  | INVALID_REQUEST           | errors page
					400 |                       | invalid_request_error | You have reached your specified API usage limits. You will regain access on 2025-07-01 at 00:00 UTC. | QUOTA_EXHAUSTED | anthropics/claude-code#2127
					400 |                       | invalid_request_error | You have reached your specified workspace API usage limits. You will regain access on 2026-10-02 at 00:00 UTC. | QUOTA_EXHAUSTED after 24h until 2026-10-02T00:00:00Z | errors page
					400 | x-should-retry: false | invalid_request_error | Your credit balance is too low to access the Anthropic API.          | QUOTA_EXHAUSTED NO_RETRY  | empty balance
					400 |                       | invalid_request_error | prompt is too long: 210000 tokens > 200000 maximum                   | TOO_LARGE                 | errors page
					400 |                       | invalid_request_error | messages: the text "your credit balance is too low" has no role      | INVALID_REQUEST           | an echoed prompt is no verdict
					401 |                       | authentication_error  | invalid x-api-key                                                    | UNAUTHORIZED              | errors page
					402 |                       | billing_error         | payment problem                                                      | QUOTA_EXHAUSTED latches ACCOUNT | errors page
					403 |                       | permission_error      | no                                                                   | UNAUTHORIZED              | errors page
					404 |                       | not_found_error       | model: claude-x                                                      | INVALID_REQUEST           | errors page
					409 |                       | conflict_error        | changed                                                              | CONFLICT                  | errors page
					413 |                       | request_too_large     | over the byte limit                                                  | TOO_LARGE                 | errors page
					429 | retry-after: 12       | rate_limit_error      | Number of request tokens has exceeded your rate limit                | RATE_LIMITED after 12s    | errors page
					429 |                       | rate_limit_error      | This request would exceed your account's rate limit. Please try again later. | RATE_LIMITED      | anthropics/claude-code#71672
					429 |                       | rate_limit_error      | Extra usage is required for long context requests.                   | QUOTA_EXHAUSTED           | anthropics/claude-code#29584
					500 |                       | api_error             | Internal server error                                                | SERVER_ERROR              | errors page
					500 |                       | overloaded_error      | Overloaded                                                           | OVERLOADED                | the body beats the status
					504 |                       | timeout_error         | Request timed out                                                    | TIMEOUT                   | errors page
					529 |                       | overloaded_error      | Overloaded                                                           | OVERLOADED                | errors page
					200 |                       | overloaded_error      | Overloaded                                                           | OVERLOADED                | huggingface/tau#556
					200 |                       | api_error             | Internal server error                                                | SERVER_ERROR              | huggingface/tau#556
					200 |                       | rate_limit_error      | This request would exceed your account's rate limit.                 | RATE_LIMITED              | huggingface/tau#556
					200 |                       | invalid_request_error | bad                                                                  | INVALID_REQUEST           | huggingface/tau#556
					200 | x-should-retry: false | overloaded_error      | Overloaded                                                           | OVERLOADED                | headers sent before the error say nothing about it
					200 |                       | brand_new_error       | never heard of                                                       | SERVER_ERROR              | an error all the same
					""")
	void judgesAnthropic(int status, @Nullable String headers, String type, String message, String expected,
			String source) {
		String body = """
				{"type":"error","error":{"details":null,"type":"%s","message":"%s"},"request_id":"req_x"}"""
			.formatted(type, message.replace("\"", "\\\""));
		assertThat(judge(ProviderType.ANTHROPIC, status, headers, body)).as(source).isEqualTo(expected);
		assertThat(judge(ProviderType.GENERIC, status, headers, body)).as(source).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|',
			textBlock = """
					enforced_spend_limit_reached            | QUOTA_EXHAUSTED after 744h latches ACCOUNT until 2026-11-01T00:00:00Z
					contract_spend_limit_reached            | QUOTA_EXHAUSTED after 744h latches ACCOUNT until 2026-11-01T00:00:00Z
					linked_organization_spend_limit_reached | QUOTA_EXHAUSTED after 744h latches ACCOUNT until 2026-11-01T00:00:00Z
					linked_organization_billing_unavailable | QUOTA_EXHAUSTED after 744h latches ACCOUNT until 2026-11-01T00:00:00Z
					""")
	void anthropicsSpendCapsAreToldFromRateLimitsByTheirErrorCode(String errorCode, String expected) {
		String body = """
				{"type":"error","error":{"type":"rate_limit_error","message":"You have reached your API usage limits: \
				you will regain access on 2026-11-01 at 00:00 UTC.","details":{"error_code":"%s"}},"request_id":"req_x"}"""
			.formatted(errorCode);
		assertThat(judge(ProviderType.ANTHROPIC, 429, null, body)).isEqualTo(expected);
		assertThat(judge(ProviderType.ANTHROPIC, 429, "x-should-retry: true", body))
			.as("no verdict of an edge turns a spend cap into a retry")
			.isEqualTo(expected);
		assertThat(Failures.classify(Failures.response(429, null, body), ProviderType.ANTHROPIC).code())
			.isEqualTo(errorCode);
	}

	@ParameterizedTest(name = "{0} {1} {2}/{3} -> {5} ({6})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					400 |                       | invalid_request_error     | context_length_exceeded           | This model's maximum context length is 128000 tokens | TOO_LARGE | error codes page
					400 |                       | invalid_request_error     | content_policy_violation          | no                    | INVALID_REQUEST | error codes page
					401 |                       | invalid_request_error     | invalid_api_key                   | Incorrect API key     | UNAUTHORIZED    | error codes page
					403 |                       | request_forbidden         | unsupported_country_region_territory | no                 | UNAUTHORIZED    | error codes page
					404 |                       | invalid_request_error     | model_not_found                   | no                    | INVALID_REQUEST | error codes page
					409 |                       | conflict                  |                                   | no                    | CONFLICT        | error codes page
					429 |                       | requests                  | rate_limit_exceeded               | Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. | RATE_LIMITED after 20s | error codes page
					429 |                       | tokens                    | rate_limit_exceeded               | Limit 10000, Used 5775, Requested 4301. Please try again in 456ms. | RATE_LIMITED after 0.456s | langchain4j/langchain4j#814
					429 |                       | tokens                    | rate_limit_exceeded               | tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s | QUOTA_EXHAUSTED after 9m38.016s until 2026-10-01T00:09:38.016Z | continuedev/continue#10920
					429 |                       | tokens                    | rate_limit_exceeded               | Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 342389. | TOO_LARGE | vanna-ai/vanna-flask#11
					429 | Retry-After: 50       | tokens                    | rate_limit_exceeded               | Limit 7000, Used 0, Requested 12903. Please try again in 50.597s. | TOO_LARGE | danielmiessler/Fabric#364
					413 | x-should-retry: false | tokens                    | rate_limit_exceeded               | Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 14368, please reduce | TOO_LARGE NO_RETRY | assafelovic/gpt-researcher#985
					429 |                       | rate_limit_error          | slow_down                         | Slow down             | RATE_LIMITED    | error codes page
					503 |                       | rate_limit_error          | slow_down                         | Slow down             | RATE_LIMITED    | error codes page
					429 |                       | insufficient_quota        | insufficient_quota                | You exceeded your current quota, please check your plan and billing details. | QUOTA_EXHAUSTED latches ACCOUNT | langchain-ai/langchainjs#1929
					429 |                       | insufficient_quota        |                                   | You exceeded your current quota | QUOTA_EXHAUSTED latches ACCOUNT | langchain-ai/langchainjs#1929
					429 |                       | insufficient_quota        | credit_balance_exhausted          | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | openai/openai-python#3507
					429 |                       | insufficient_quota        | organization_spend_limit_exceeded | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | openai/openai-python#3507
					429 |                       | insufficient_quota        | organization_usage_limit_exceeded | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | openai/openai-python#3507
					429 |                       | insufficient_quota        | project_spend_limit_exceeded      | no                    | QUOTA_EXHAUSTED latches PROVIDER | openai/openai-python#3507
					429 | x-should-retry: true  | insufficient_quota        | credit_balance_exhausted          | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | an edge cannot undo a spend cap
					400 |                       | insufficient_quota        | billing_hard_limit_reached        | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | whatever the status
					403 |                       | insufficient_quota        | billing_not_active                | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | whatever the status
					200 |                       | insufficient_quota        | insufficient_quota                | no                    | QUOTA_EXHAUSTED latches ACCOUNT  | openai/codex#6340
					500 |                       | server_error              |                                   | The server had an error | SERVER_ERROR  | error codes page
					500 |                       | internal_error            | internal_error                    | internal_error        | SERVER_ERROR    | langwatch/langwatch#6304
					503 |                       | service_unavailable_error | server_is_overloaded              | busy                  | OVERLOADED      | error codes page
					200 |                       | server_error              |                                   | The server had an error | SERVER_ERROR  | in a stream
					""")
	void judgesOpenAi(int status, @Nullable String headers, String type, @Nullable String code, String message,
			String expected, String source) {
		String body = """
				{"error":{"message":"%s","type":"%s","param":null,"code":%s}}""".formatted(message, type,
				(code != null) ? "\"" + code + "\"" : "null");
		assertThat(judge(ProviderType.OPENAI, status, headers, body)).as(source).isEqualTo(expected);
		assertThat(judge(ProviderType.GENERIC, status, headers, body)).as(source).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0} {1} {2} -> {3} ({4})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | retry-after: 277403 | {"type":"error","error":{"type":"GoUsageLimitError","message":"Monthly usage limit reached. Resets in 3 days."}} | QUOTA_EXHAUSTED after 77h3m23s until 2026-10-04T05:03:23Z | earendil-works/pi#6911
					429 |                | {"error":{"message":"You have exceeded your weekly rate limit"}}                                     | QUOTA_EXHAUSTED              | anomalyco/opencode#24011
					429 |                | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"46s"}]}} | QUOTA_EXHAUSTED latches PROVIDER | UKGovernmentBEIS/inspect_ai#5526
					429 |                | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 59.44s.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute"}]},{"retryDelay":"59s"}]}} | RATE_LIMITED after 59.44s | dimetron/pi-go#177
					429 |                | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinute"}]},{"retryDelay":"86400s"}]}} | RATE_LIMITED after 24h | OpenHikmah/openhikmah-web#560
					429 |                | {"error":{"message":"You have exhausted your capacity on this model. Your quota will reset after 12h34m16s."}} | RATE_LIMITED after 12h34m16s | earendil-works/pi#2851
					429 | Retry-After: 86400 | {"error":{"code":"429","message":"Requests have exceeded token rate limit"}}                       | RATE_LIMITED after 24h       | spring-projects/spring-ai#2078
					429 |                | {"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x is temporarily rate-limited upstream. Please retry shortly","limit_source":"upstream_provider_shared_pool"}}} | RATE_LIMITED | open-webui/computer#293
					402 | Retry-After: 3 | {"error":{"code":402,"message":"busy","metadata":{"limit_source":"openrouter_in_flight_budget"}}}    | RATE_LIMITED after 3s        | OpenRouter's errors page
					402 |                | {"error":{"code":402,"message":"pay","metadata":{"error_type":"payment_required"}}}                  | QUOTA_EXHAUSTED latches ACCOUNT | OpenRouter's errors page
					402 |                | {"error":{"code":402,"message":"pay","metadata":{"error_type":"weight_exceeds_budget"}}}             | QUOTA_EXHAUSTED              | OpenRouter's errors page
					402 | x-should-retry: true | {"error":{"message":"Insufficient Balance"}}                                                   | QUOTA_EXHAUSTED              | DeepSeek's errors page
					400 |                | {"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"'messages' must contain the word 'json'"}}} | INVALID_REQUEST | decocms/studio#6827
					404 |                | {"error":{"message":"Provider returned error","code":404}}                                           | INVALID_REQUEST              | tashfeenahmed/freellmapi#66
					422 |                | {"detail":[{"loc":["body"],"msg":"bad","type":"missing"}]}                                           | INVALID_REQUEST              | unarbos/arbos#34
					403 |                | {"message":"AccessDenied"}                                                                           | UNAUTHORIZED                 | Mininglamp-OSS/octo-smart-summary#212
					500 |                | {"error":{"message":"Internal Server Error","code":500}}                                             | SERVER_ERROR                 | NotASithLord/peerd#22
					200 |                | {"error":{"message":"Upstream error: Worker local total request limit reached (1)","code":502}}      | TIMEOUT                      | azrtydxb/Fastllm-proxy#28
					200 |                | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}                                                 | RATE_LIMITED                 | langchain-ai/langchain-google#1637
					200 |                | {"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"no"}}} | QUOTA_EXHAUSTED latches ACCOUNT | openai/codex#6340
					429 |                | {"error":{"type":"usage_limit_reached","message":"no","resets_in_seconds":7200}}                     | QUOTA_EXHAUSTED after 2h latches ACCOUNT until 2026-10-01T02:00:00Z | router-for-me/CLIProxyAPI#5286
					498 |                | {"error":{"message":"Flex tier capacity exceeded","code":"capacity_exceeded"}}                       | OVERLOADED                   | Groq's errors page
					498 |                | {"message":"invalid token"}                                                                          | UNAUTHORIZED                 | Cohere's errors page
					503 |                | {"error":"server busy, please try again. maximum pending requests exceeded"}                         | OVERLOADED                   | Ollama
					429 |                | {"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"} | RATE_LIMITED | Mistral
					""")
	void judgesTheCommonestFormsOfOthers(int status, @Nullable String headers, String body, String expected,
			String source) {
		assertThat(judge(ProviderType.GENERIC, status, headers, body)).as(source).isEqualTo(expected);
	}

	private static String judge(ProviderType type, int status, @Nullable String headers, String body) {
		return Failures.judge(Failures.response(status, headers, body), type);
	}

}
