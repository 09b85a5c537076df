package dev.llmresilience.failure;

import dev.llmresilience.failure.FailureTable.Row;
import dev.llmresilience.failure.FailureTable.RowReader;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.AggregateWith;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What becomes of an answer that a gateway or a cloud passes on in its own words, in the
 * columns of {@link FailureTableTests}.
 */
class GatewayTableTests {

	private static final String NAME = "{0} {1} {2} {3} -> {4} ({9})";

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					anthropic    | 429 | retry-after: 171 | {"type":"error","error":{"type":"rate_limit_error","message":"rate limit"}} | RATE_LIMITED    | no   | 171    | N | -        | NousResearch/hermes-agent#35955
					anthropic    | 429 | retry-after: 90 | {"type":"error","error":{"type":"rate_limit_error","message":"rate limit"}} | RATE_LIMITED    | yes  | 90     | N | -        | openai/openai-python#3555
					anthropic    | 429 | retry-after: 3600 | {"type":"error","error":{"type":"rate_limit_error","message":"You have reached your workspace API usage limits."}} | QUOTA_EXHAUSTED | no   | 3600   | N | -        | the spend limit with a header
					anthropic    | 400 |      | {"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 190000 + 20000 > 200000"}} | TOO_LARGE       | no   | -      | S | -        | errors page
					anthropic    | 429 |      | {"message":"Too many tokens, please wait before trying again."} | RATE_LIMITED    | once | -      | N | -        | Bedrock's text without its name
					anthropic    | 429 | x-amzn-ErrorType: ThrottlingException | {"message":"Too many tokens, please wait before trying again."} | RATE_LIMITED    | yes  | -      | N | -        | hosted by AWS
					anthropic    | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"OnlinePredictionRequestsPerDay"}]}]}} | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | hosted by Google
					anthropic    | 529 |      |      | OVERLOADED      | yes  | -      | F | -        | errors page
					""")
	void judgesWhatCloudsSayInAnthropicsPlace(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					openai       | 429 |      | You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors. | QUOTA_EXHAUSTED | no   | -      | N | -        | a client that keeps the message only
					openai       | 429 |      | {"error":{"message":"You exceeded your current quota"}} | RATE_LIMITED    | once | -      | N | -        | could be either
					openai       | 429 |      | {"error":{"message":"Slow down","type":"rate_limit_error","code":"slow_down"}} | RATE_LIMITED    | yes  | -      | N | -        | error codes page
					openai       | 400 |      | {"error":{"message":"no","type":"invalid_request_error","code":"invalid_api_key"}} | UNAUTHORIZED    | no   | -      | N | -        | whatever the status
					openai       | 400 | x-should-retry: true | {"error":{"message":"no","type":"invalid_request_error"}} | INVALID_REQUEST | yes  | -      | S | -        | the server's word
					openai       | 503 | x-should-retry: false | {"error":{"message":"no"}} | OVERLOADED      | no   | -      | F | -        | the server's word
					openai       | 429 |      | {"error":{"type":"usage_limit_reached","message":"no","resets_at":1790820000,"resets_in_seconds":7100}} | QUOTA_EXHAUSTED | no   | 7200   | N | ACCOUNT  | router-for-me/CLIProxyAPI#5286
					openai       | 429 |      | {"detail":{"code":"usage_limit_reached","resets_in_seconds":60}} | QUOTA_EXHAUSTED | no   | 60     | N | ACCOUNT  | in another envelope
					""")
	void judgesOpenAi(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					generic      | 429 |      | {"error":{"message":"Budget has been exceeded! Current cost: 10.1, Max budget: 10","type":"budget_exceeded","code":"429"}} | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | LiteLLM
					generic      | 403 |      | {"error":{"message":"no","type":"new_api_error","code":"insufficient_user_quota"}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | New API
					generic      | 500 |      | {"error":{"message":"no","type":"None","code":"429"}} | RATE_LIMITED    | once | -      | N | -        | the status that the gateway got
					generic      | 502 |      | {"error":{"message":"no","code":402}} | QUOTA_EXHAUSTED | no   | -      | N | -        | the status that the gateway got
					generic      | 500 |      | {"error":{"message":"no","code":404}} | SERVER_ERROR    | yes  | -      | F | -        | a gateway's own failure, perhaps
					generic      | 429 |      | {"error":{"code":"rate_limit_error","message":"would exceed the rate limit of 20,000 input tokens per minute","type":"invalid_request_error"}} | RATE_LIMITED    | yes  | -      | N | -        | FoundationAgents/OpenManus#746
					generic      | 503 |      | {"error":"Model too busy","error_type":"overloaded"} | OVERLOADED      | yes  | -      | F | -        | text-generation-inference
					generic      | 503 |      | {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}} | OVERLOADED      | yes  | -      | F | -        | llama.cpp
					generic      | 400 |      | {"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}} | TOO_LARGE       | no   | -      | S | -        | llama.cpp
					generic      | 429 |      | {"success":false,"errors":[{"code":3040,"message":"Capacity temporarily exceeded, please try again."}]} | RATE_LIMITED    | yes  | -      | N | -        | a list of errors
					generic      | 500 |      | {"error":{"type":"internal_error","code":"internal_error","message":"internal_error"}} | SERVER_ERROR    | yes  | -      | F | -        | langwatch/langwatch#6304
					generic      | 402 |      | {"code":402,"message":"RESOURCE_EXHAUSTED","error":{"status":"RESOURCE_EXHAUSTED"}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | Google's words hold
					generic      | 429 |      | quota_metric: "x" quota_id: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" | QUOTA_EXHAUSTED | no   | -      | N | -        | a client that keeps the text only
					generic      | 429 |      | {"message":"Rate limit exceeded","retry_after":"12s"} | RATE_LIMITED    | yes  | 12     | N | -        | units in a field
					""")
	void judgesGateways(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

}
