package dev.llmresilience.failure;

import dev.llmresilience.failure.FailureTable.Row;
import dev.llmresilience.failure.FailureTable.RowReader;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.AggregateWith;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What becomes of an answer, one line each: the provider type, the status, headers and
 * body; the kind; whether it is retried where a hint of up to two minutes is waited for
 * (yes, once, no); the hint in seconds; what the breaker hears (Failure, Success,
 * Neutral); what is latched; where it comes from. It is 2026-10-01T00:00:00Z.
 */
class FailureTableTests {

	private static final String NAME = "{0} {1} {2} {3} -> {4} ({9})";

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					azure-openai | 429 | Retry-After: 37 | {"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 37 seconds."}} | RATE_LIMITED    | yes  | 37     | N | -        | quotas page
					azure-openai | 429 | retry-after-ms: 1200; Retry-After: 2 | {"error":{"code":"429","message":"Rate limit is exceeded."}} | RATE_LIMITED    | yes  | 1.2    | N | -        | microsoft/kernel-memory#795
					azure-openai | 429 |      | {"error":{"code":"429","message":"System is experiencing high demand: the request exceeds the maximum usage size allowed during peak load. Please retry after 6 seconds."}} | RATE_LIMITED    | yes  | 6      | N | -        | shortage of the back end
					azure-openai | 429 | Retry-After: 86400 | {"error":{"code":"429","message":"Requests have exceeded token rate limit of your current pricing tier."}} | RATE_LIMITED    | no   | 86400  | N | -        | Azure/azure-sdk-for-java#42696
					azure-openai | 429 | x-ratelimit-limit-tokens: -1; x-ratelimit-remaining-tokens: -1; x-ratelimit-reset-tokens: 0 | {"error":{"code":"too_many_requests","message":"Too Many Requests"}} | RATE_LIMITED    | yes  | -      | N | -        | openai/openai-dotnet#838
					azure-openai | 429 |      | {"error":{"code":"RateLimitReached","message":"Rate limit of 150 per 86400s exceeded for UserByModelByDay. Please wait 57321 seconds before retrying."}} | QUOTA_EXHAUSTED | no   | 57321  | N | -        | models counted by the day
					azure-openai | 429 |      | {"error":{"code":"insufficient_quota","message":"no"}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | OpenAI's words hold
					azure-openai | 503 |      | {"error":{"code":"NoCapacity","message":"The system is currently experiencing high demand"}} | OVERLOADED      | yes  | -      | F | -        | quotas page
					azure-openai | 400 |      | {"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400}} | INVALID_REQUEST | no   | -      | S | -        | content filter page
					azure-openai | 403 |      | {"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 2.12:34:56."} | QUOTA_EXHAUSTED | no   | 218096 | N | -        | API Management
					azure-openai | 403 |      | {"statusCode":403,"message":"Out of bandwidth quota. Quota will be replenished in 00:10:00."} | QUOTA_EXHAUSTED | no   | 600    | N | -        | API Management
					azure-openai | 403 |      | {"statusCode":403,"message":"Access denied due to missing subscription key"} | UNAUTHORIZED    | no   | -      | N | -        | API Management
					azure-openai | 429 |      | {"statusCode":429,"message":"Rate limit is exceeded. Try again in 14 seconds."} | RATE_LIMITED    | yes  | 14     | N | -        | API Management
					azure-openai | 404 |      | {"error":{"code":"DeploymentNotFound","message":"no"}} | INVALID_REQUEST | no   | -      | S | -        | quotas page
					""")
	void judgesAzureOpenAi(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					google       | 429 |      | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"}]},{"retryDelay":"46s"}]}} | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | UKGovernmentBEIS/inspect_ai#5526
					google       | 429 |      | [{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinute"},{"quotaId":"InputTokensPerDay"}]},{"retryDelay":"46s"}]}}] | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | the longer of two quotas, in an array
					google       | 429 |      | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 59.44s.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateContentPaidTierInputTokensPerModelPerMinute"}]},{"retryDelay":"59s"}]}} | RATE_LIMITED    | yes  | 59.44  | N | -        | dimetron/pi-go#177
					google       | 429 |      | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}} | RATE_LIMITED    | yes  | -      | N | -        | prose alone does not tell
					google       | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"38s"}]}} | RATE_LIMITED    | yes  | 38     | N | -        | letterstory/lettertrace#34
					google       | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"45.837906927s"}]}} | RATE_LIMITED    | yes  | 45.837906927 | N | -        | dcdpr/jp#1061
					google       | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinute"}]},{"retryDelay":"86400s"}]}} | RATE_LIMITED    | no   | 86400  | N | -        | OpenHikmah/openhikmah-web#560
					google       | 429 |      | {"error":{"code":429,"message":"Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-x. Please retry in 10h17m5.723541104s.","status":"RESOURCE_EXHAUSTED"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | no quota at all for a model
					google       | 429 |      | {"error":{"code":429,"message":"Quota exceeded for metric: generate_content_free_tier_requests, limit: 20, model: gemini-x. Please retry in 38.6s.","status":"RESOURCE_EXHAUSTED"}} | RATE_LIMITED    | yes  | 38.6   | N | -        | a limit that is not zero
					google       | 429 |      | {"error":{"code":429,"message":"Resource exhausted, please try again later.","status":"RESOURCE_EXHAUSTED"}} | RATE_LIMITED    | yes  | -      | N | -        | Vertex AI, shared capacity
					google       | 429 |      | {"error":{"code":429,"message":"Too many requests. Exceeded the Provisioned Throughput.","status":"RESOURCE_EXHAUSTED"}} | RATE_LIMITED    | yes  | -      | N | -        | Vertex AI, provisioned throughput
					google       | 429 |      | {"error":{"code":"rate_limit_exceeded","message":"no"}} | RATE_LIMITED    | yes  | -      | N | -        | Interactions API
					google       | 429 |      | {"error":{"code":"too_many_requests","message":"no"}} | RATE_LIMITED    | yes  | -      | N | -        | Interactions API
					google       | 429 |      | {"error":{"code":"quota_exceeded","message":"no"}} | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | Interactions API, the daily quota
					google       | 200 |      | {"event_type":"error","error":{"code":"rate_limit_exceeded","message":"no"}} | RATE_LIMITED    | yes  | -      | N | -        | Interactions API, in a stream
					google       | 200 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}} | RATE_LIMITED    | yes  | -      | N | -        | langchain-ai/langchain-google#1637
					google       | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"12h34m16s","quotaResetTimeStamp":"2026-10-01T12:34:16Z"}}]}} | QUOTA_EXHAUSTED | no   | 45256  | N | PROVIDER | Code Assist
					google       | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"9s"}}]}} | RATE_LIMITED    | yes  | 9      | N | -        | Code Assist, back in seconds
					google       | 429 |      | {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quotaResetDelay":"373.801628ms"}}]}} | RATE_LIMITED    | yes  | 0.373801628 | N | -        | Code Assist
					google       | 429 |      | {"error":{"code":429,"details":[{"metadata":{"quotaResetTimeStamp":"2026-10-01T00:01:30Z"}}]}} | RATE_LIMITED    | yes  | 90     | N | -        | Code Assist, an instant
					google       | 503 |      | {"error":{"code":503,"details":[{"reason":"MODEL_CAPACITY_EXHAUSTED"}]}} | OVERLOADED      | yes  | -      | F | -        | Code Assist
					google       | 402 |      | {"error":{"code":402,"message":"no","status":"RESOURCE_EXHAUSTED"}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | prepaid credits gone
					google       | 429 |      | {"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio","status":"RESOURCE_EXHAUSTED"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | prepaid credits gone, by text
					google       | 429 |      | {"error":{"code":429,"message":"Your project has exceeded its monthly spending cap.","status":"RESOURCE_EXHAUSTED"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | a month's cap
					google       | 400 |      | {"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}} | UNAUTHORIZED    | no   | -      | N | -        | a wrong key is a 400
					google       | 400 |      | {"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}} | TOO_LARGE       | no   | -      | S | -        | troubleshooting page
					google       | 400 |      | {"error":{"code":400,"message":"User location is not supported","status":"FAILED_PRECONDITION"}} | INVALID_REQUEST | no   | -      | S | -        | troubleshooting page
					google       | 403 |      | {"error":{"code":403,"status":"PERMISSION_DENIED"}} | UNAUTHORIZED    | no   | -      | N | -        | troubleshooting page
					google       | 403 |      | {"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | billing switched off
					google       | 404 |      | {"error":{"code":404,"status":"NOT_FOUND"}} | INVALID_REQUEST | no   | -      | S | -        | troubleshooting page
					google       | 499 |      | {"error":{"code":499,"status":"CANCELLED"}} | CANCELLED       | no   | -      | N | -        | google.rpc.Code
					google       | 500 |      | {"error":{"code":500,"status":"INTERNAL"}} | SERVER_ERROR    | yes  | -      | F | -        | troubleshooting page
					google       | 503 |      | {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}} | OVERLOADED      | yes  | -      | F | -        | troubleshooting page
					google       | 504 |      | {"error":{"code":504,"status":"DEADLINE_EXCEEDED"}} | TIMEOUT         | yes  | -      | F | -        | troubleshooting page
					google       | 200 |      | {"error":{"status":"UNAVAILABLE"}} | OVERLOADED      | yes  | -      | F | -        | in a stream
					google       | 200 |      | {"error":{"status":"INVALID_ARGUMENT"}} | INVALID_REQUEST | no   | -      | S | -        | in a stream
					""")
	void judgesGoogle(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					bedrock      | 429 | x-amzn-ErrorType: ThrottlingException:http://internal.amazon.com/coral/ | {"message":"Too many tokens, please wait before trying again."} | RATE_LIMITED    | yes  | -      | N | -        | API reference
					bedrock      | 429 |      | {"__type":"com.amazon.coral.service#ThrottlingException","message":"Too many requests"} | RATE_LIMITED    | yes  | -      | N | -        | API reference
					bedrock      | 429 | x-amzn-ErrorType: ThrottlingException | {"message":"Too many tokens per day, please wait before trying again."} | QUOTA_EXHAUSTED | no   | -      | N | -        | the daily quota
					bedrock      | 429 | x-amzn-ErrorType: ModelNotReadyException | {"message":"not ready"} | RATE_LIMITED    | yes  | -      | N | -        | API reference
					bedrock      | 400 | x-amzn-ErrorType: ThrottlingException | {"message":"Too many requests"} | RATE_LIMITED    | yes  | -      | N | -        | boto/botocore#3126
					bedrock      | 400 | x-amzn-ErrorType: serviceUnavailableException |      | OVERLOADED      | yes  | -      | F | -        | boto/botocore#3126
					bedrock      | 200 |      | {"__type":"modelStreamErrorException","message":"no"} | SERVER_ERROR    | yes  | -      | F | -        | an event of a stream
					bedrock      | 200 |      | {"errorCode":"throttlingException","message":"no"} | RATE_LIMITED    | yes  | -      | N | -        | an event of a stream
					bedrock      | 400 | x-amzn-ErrorType: ServiceQuotaExceededException | {"message":"Your request exceeds the service quota for your account."} | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | a quota at 400
					bedrock      | 400 | x-amzn-ErrorType: ValidationException | {"message":"Input is too long for requested model."} | TOO_LARGE       | no   | -      | S | -        | API reference
					bedrock      | 400 | x-amzn-ErrorType: ValidationException | {"message":"Malformed input request"} | INVALID_REQUEST | no   | -      | S | -        | API reference
					bedrock      | 403 | x-amzn-ErrorType: AccessDeniedException | {"message":"no"} | UNAUTHORIZED    | no   | -      | N | -        | API reference
					bedrock      | 400 | x-amzn-ErrorType: UnrecognizedClientException | {"message":"The security token included in the request is invalid."} | UNAUTHORIZED    | no   | -      | N | -        | a wrong key
					bedrock      | 403 | x-amzn-ErrorType: MPAgreementBeingCreated | {"message":"try again in 2 minutes"} | CONFLICT        | yes  | 120    | N | -        | a subscription that settles
					bedrock      | 404 | x-amzn-ErrorType: ResourceNotFoundException | {"message":"no"} | INVALID_REQUEST | no   | -      | S | -        | API reference
					bedrock      | 408 | x-amzn-ErrorType: ModelTimeoutException | {"message":"no"} | TIMEOUT         | yes  | -      | F | -        | API reference
					bedrock      | 424 | x-amzn-ErrorType: ModelErrorException | {"message":"no","originalStatusCode":500} | SERVER_ERROR    | yes  | -      | F | -        | the model's own status
					bedrock      | 424 | x-amzn-ErrorType: ModelErrorException | {"message":"no","originalStatusCode":400} | INVALID_REQUEST | no   | -      | S | -        | the model's own status
					bedrock      | 424 | x-amzn-ErrorType: ModelErrorException | {"message":"no"} | SERVER_ERROR    | yes  | -      | F | -        | the model produced junk
					bedrock      | 500 | x-amzn-ErrorType: InternalServerException | {"message":"no"} | SERVER_ERROR    | yes  | -      | F | -        | API reference
					bedrock      | 503 | x-amzn-ErrorType: ServiceUnavailableException | {"message":"no"} | OVERLOADED      | yes  | -      | F | -        | API reference
					bedrock      | 529 |      | {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} | OVERLOADED      | yes  | -      | F | -        | Anthropic's words hold
					""")
	void judgesBedrock(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					mistral      | 429 |      | {"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"} | RATE_LIMITED    | yes  | -      | N | -        | a flat body
					mistral      | 429 |      | {"object":"error","message":"Rate limit exceeded","type":"rate_limited","param":null,"code":"1300"} | RATE_LIMITED    | yes  | -      | N | -        | cline/cline#9085
					mistral      | 429 |      | {"message":"Requests rate limit exceeded"} | RATE_LIMITED    | yes  | -      | N | -        | dnakov/anon-kode#53
					mistral      | 422 |      | {"object":"error","message":"Rate limit exceeded","type":"error"} | RATE_LIMITED    | yes  | -      | N | -        | spring-projects/spring-ai#433
					mistral      | 422 |      | {"detail":[{"loc":["body"],"msg":"rate limit exceeded","type":"missing"}]} | INVALID_REQUEST | no   | -      | S | -        | errors page
					mistral      | 429 |      | {"object":"error","message":"You have reached your limit of tokens per month","type":"rate_limited"} | QUOTA_EXHAUSTED | no   | -      | N | -        | limits page
					mistral      | 429 | ratelimitbysize-reset: 27; ratelimitbysize-remaining: 0 | {"message":"Requests rate limit exceeded"} | RATE_LIMITED    | yes  | 27     | N | -        | the window's end
					mistral      | 429 | ratelimitbysize-reset: 27; Retry-After: 3 | {"message":"Requests rate limit exceeded"} | RATE_LIMITED    | yes  | 3      | N | -        | Retry-After is the plainer word
					mistral      | 400 |      | {"object":"error","message":"Invalid model: x","type":"invalid_request_error","param":"model","code":"unknown_model"} | INVALID_REQUEST | no   | -      | S | -        | errors page
					mistral      | 402 |      | {"message":"Payment required"} | QUOTA_EXHAUSTED | no   | -      | N | -        | errors page
					""")
	void judgesMistral(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					cohere       | 429 |      | {"message":"You are past the per minute request limit, please wait and try again later."} | RATE_LIMITED    | yes  | -      | N | -        | errors page
					cohere       | 429 |      | {"message":"You are using a Trial key, which is limited to 40 API calls / minute."} | RATE_LIMITED    | yes  | -      | N | -        | errors page
					cohere       | 429 |      | {"message":"You are using a Trial key, which is limited to 1000 API calls / month."} | QUOTA_EXHAUSTED | no   | -      | N | -        | errors page
					cohere       | 429 |      | {"message":"trial token rate limit exceeded, limit is 100000 tokens per minute"} | RATE_LIMITED    | yes  | -      | N | -        | errors page
					cohere       | 429 | X-RateLimit-Reset: 1790812830 | {"message":"too many requests"} | RATE_LIMITED    | yes  | 30     | N | -        | the SDK's reading: seconds since 1970
					cohere       | 402 |      | {"message":"You have reached your billing limit, which will reset at the beginning of next month."} | QUOTA_EXHAUSTED | no   | 2678400 | N | -        | errors page
					cohere       | 498 |      | {"message":"invalid token"} | UNAUTHORIZED    | no   | -      | N | -        | errors page
					cohere       | 400 |      | {"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"} | TOO_LARGE       | no   | -      | S | -        | errors page
					cohere       | 404 |      | {"message":"model 'x' not found"} | INVALID_REQUEST | no   | -      | S | -        | errors page
					cohere       | 499 |      | {"message":"request cancelled"} | CANCELLED       | no   | -      | N | -        | errors page
					""")
	void judgesCohere(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					groq         | 498 |      | {"error":{"message":"Flex tier capacity exceeded","code":"capacity_exceeded"}} | OVERLOADED      | yes  | -      | F | -        | errors page
					groq         | 498 |      |      | OVERLOADED      | yes  | -      | F | -        | errors page
					groq         | 413 | x-should-retry: false | {"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 14368, please reduce your message size","type":"tokens","code":"rate_limit_exceeded"}} | TOO_LARGE       | no   | -      | S | -        | assafelovic/gpt-researcher#985
					groq         | 413 |      | {"error":{"message":"no","type":"tokens","code":"rate_limit_exceeded"}} | TOO_LARGE       | no   | -      | S | -        | the status is certain
					groq         | 429 | Retry-After: 51 | {"error":{"message":"Limit 7000, Requested 12903. Please try again in 50.597s.","type":"tokens","code":"rate_limit_exceeded"}} | TOO_LARGE       | no   | -      | S | -        | danielmiessler/Fabric#364
					groq         | 429 |      | {"error":{"message":"Requested 12,903 of tokens, over the limit: 7,000","type":"tokens","code":"rate_limit_exceeded"}} | TOO_LARGE       | no   | -      | S | -        | the other order
					groq         | 429 |      | {"error":{"message":"Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5500, Requested 1200. Please try again in 5.289s.","code":"rate_limit_exceeded"}} | RATE_LIMITED    | yes  | 5.289  | N | -        | Aider-AI/aider#3265
					groq         | 429 |      | {"error":{"message":"Rate limit reached on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.","code":"rate_limit_exceeded"}} | QUOTA_EXHAUSTED | no   | 578.016 | N | -        | continuedev/continue#10920
					groq         | 429 |      | {"error":{"message":"Rate limit reached on seconds of audio per day (ASD)","code":"rate_limit_exceeded"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | rate limits page
					groq         | 429 |      | {"error":{"message":"Rate limit reached on seconds of audio per hour (ASH). Upgrade for more per day.","code":"rate_limit_exceeded"}} | RATE_LIMITED    | yes  | -      | N | -        | an offer is no complaint
					groq         | 400 |      | {"error":{"message":"blocked","type":"invalid_request_error","code":"blocked_api_access"}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | spend limits page
					groq         | 400 |      | {"error":{"message":"Organization has been restricted.","type":"invalid_request_error","code":"organization_restricted"}} | UNAUTHORIZED    | no   | -      | N | -        | errors page
					groq         | 422 |      | {"error":{"message":"no","type":"invalid_request_error"}} | INVALID_REQUEST | no   | -      | S | -        | errors page
					""")
	void judgesGroq(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					deepseek     | 402 |      | {"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | error codes page
					deepseek     | 400 |      | {"error":{"message":"Insufficient Balance"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | passed on by a gateway
					deepseek     | 429 |      | {"error":{"message":"Too many concurrent requests","type":"rate_limit_error"}} | RATE_LIMITED    | yes  | -      | N | -        | error codes page
					deepseek     | 422 |      | {"error":{"message":"Invalid parameters"}} | INVALID_REQUEST | no   | -      | S | -        | error codes page
					deepseek     | 503 |      | {"error":{"message":"Server overloaded"}} | OVERLOADED      | yes  | -      | F | -        | error codes page
					""")
	void judgesDeepSeek(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					openrouter   | 402 | Retry-After: 3 | {"error":{"code":402,"message":"busy","metadata":{"error_type":"in_flight_budget_exhausted","limit_source":"openrouter_in_flight_budget"}}} | RATE_LIMITED    | yes  | 3      | N | -        | errors page
					openrouter   | 402 | Retry-After: 3 | {"error":{"code":402,"message":"busy","metadata":{"error_type":"payment_required","limit_source":"openrouter_in_flight_budget"}}} | RATE_LIMITED    | yes  | 3      | N | -        | the source is more telling than the type
					openrouter   | 402 |      | {"error":{"code":402,"message":"pay","metadata":{"error_type":"payment_required","limit_source":"openrouter_credits"}}} | QUOTA_EXHAUSTED | no   | -      | N | ACCOUNT  | errors page
					openrouter   | 402 |      | {"error":{"code":402,"message":"pay","metadata":{"error_type":"payment_required","limit_source":"openrouter_key_limit"}}} | QUOTA_EXHAUSTED | no   | -      | N | PROVIDER | only this key
					openrouter   | 402 |      | {"error":{"code":402,"message":"pay","metadata":{"error_type":"weight_exceeds_budget","limit_source":"openrouter_credits"}}} | QUOTA_EXHAUSTED | no   | -      | N | -        | only this request
					openrouter   | 402 |      | {"error":{"code":402,"message":"Insufficient credits"}} | QUOTA_EXHAUSTED | no   | -      | N | -        | errors page
					openrouter   | 402 |      | {"error":{"code":402,"message":"no","metadata":{"error_type":"rate_limit_exceeded"}}} | QUOTA_EXHAUSTED | no   | -      | N | -        | no word but a passing budget's undoes a 402
					openrouter   | 403 |      | {"error":{"code":403,"message":"Budget limit exceeded","metadata":{"limit_source":"openrouter_workspace_budget","resets_at":"2026-10-02T00:00:00Z"}}} | QUOTA_EXHAUSTED | no   | 86400  | N | PROVIDER | errors page
					openrouter   | 403 |      | {"error":{"code":403,"message":"Budget limit exceeded","metadata":{"resets_at":1790812860}}} | QUOTA_EXHAUSTED | no   | 60     | N | -        | errors page
					openrouter   | 403 |      | {"error":{"code":403,"message":"flagged","metadata":{"error_type":"permission_denied"}}} | UNAUTHORIZED    | no   | -      | N | -        | errors page
					openrouter   | 429 |      | {"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x is temporarily rate-limited upstream. Please retry shortly","limit_source":"upstream_provider_shared_pool"}}} | RATE_LIMITED    | yes  | -      | N | -        | open-webui/computer#293
					openrouter   | 429 |      | {"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1790899200000"}}}} | QUOTA_EXHAUSTED | no   | 86400  | N | -        | limits page
					openrouter   | 429 |      | {"error":{"message":"Rate limit exceeded: free-models-per-min. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Reset":"1790812820000"}}}} | RATE_LIMITED    | yes  | 20     | N | -        | an offer is no complaint
					openrouter   | 429 | X-RateLimit-Reset: 1790812820000 | {"error":{"message":"Rate limit exceeded","code":429}} | RATE_LIMITED    | yes  | 20     | N | -        | limits page
					openrouter   | 503 |      | {"error":{"code":503,"message":"no","availability":{"retryable":true,"retry_after":40,"reason":"capacity_exhausted"}}} | OVERLOADED      | yes  | 40     | F | -        | errors page
					openrouter   | 404 |      | {"error":{"code":404,"message":"no","availability":{"retryable":true,"retry_after":7}}} | INVALID_REQUEST | yes  | 7      | S | -        | its word on retrying beats the status
					openrouter   | 503 |      | {"error":{"code":503,"message":"no","availability":{"retryable":false}}} | OVERLOADED      | no   | -      | F | -        | its word on retrying beats the status
					openrouter   | 503 | x-should-retry: true | {"error":{"code":503,"message":"no","availability":{"retryable":false}}} | OVERLOADED      | yes  | -      | F | -        | but not the header
					openrouter   | 400 |      | {"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"'messages' must contain the word 'json'"}}} | INVALID_REQUEST | no   | -      | S | -        | decocms/studio#6827
					openrouter   | 404 |      | {"error":{"message":"Provider returned error","code":404}} | INVALID_REQUEST | no   | -      | S | -        | tashfeenahmed/freellmapi#66
					openrouter   | 400 |      | {"error":{"code":400,"message":"no","metadata":{"error_type":"token_limit_exceeded"}}} | TOO_LARGE       | no   | -      | S | -        | errors page
					openrouter   | 500 |      | {"error":{"message":"Internal Server Error","code":500}} | SERVER_ERROR    | yes  | -      | F | -        | NotASithLord/peerd#22
					openrouter   | 502 |      | {"error":{"code":502,"message":"no","metadata":{"error_type":"provider_unavailable"}}} | TIMEOUT         | yes  | -      | F | -        | errors page
					openrouter   | 200 |      | {"error":{"message":"Upstream error from Nvidia: ResourceExhausted: Worker local total request limit reached (1)","code":502}} | TIMEOUT         | yes  | -      | F | -        | azrtydxb/Fastllm-proxy#28
					openrouter   | 200 |      | {"error":{"code":429,"message":"no","metadata":{"error_type":"rate_limit_exceeded"}}} | RATE_LIMITED    | yes  | -      | N | -        | in a stream
					""")
	void judgesOpenRouter(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					xai          | 400 |      | {"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. You can obtain an API key"} | UNAUTHORIZED    | no   | -      | N | -        | a wrong key is a 400
					xai          | 400 |      | {"code":"Client specified an invalid argument","error":"Model not found: x"} | INVALID_REQUEST | no   | -      | S | -        | errors page
					xai          | 400 |      | {"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."} | TOO_LARGE       | no   | -      | S | -        | errors page
					xai          | 429 |      | {"code":"Some resource has been exhausted","error":"Your team x has either used all available credits or reached its monthly spending limit."} | QUOTA_EXHAUSTED | no   | -      | N | -        | continuedev/continue#10373
					xai          | 403 |      | {"code":"permission-denied","error":"Your team x has either used all available credits or reached its monthly spending limit."} | QUOTA_EXHAUSTED | no   | -      | N | -        | Anantys-oss/koan#2412
					xai          | 403 |      | {"code":"x","error":"You have run out of credits or need a Grok subscription."} | QUOTA_EXHAUSTED | no   | -      | N | -        | Wei-Shaw/sub2api#4069
					xai          | 429 |      | {"code":"Some resource has been exhausted","error":"Too many requests for team x and model y"} | RATE_LIMITED    | yes  | -      | N | -        | errors page
					xai          | 403 |      | {"code":"The caller does not have permission","error":"Your team is blocked"} | UNAUTHORIZED    | no   | -      | N | -        | errors page
					""")
	void judgesXai(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

	@ParameterizedTest(name = NAME)
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					ollama       | 503 |      | {"error":"server busy, please try again. maximum pending requests exceeded"} | OVERLOADED      | yes  | -      | F | -        | a full queue
					ollama       | 200 |      | {"error":"server busy, please try again. maximum pending requests exceeded"} | OVERLOADED      | yes  | -      | F | -        | a line of a stream
					ollama       | 200 |      | {"error":"an error was encountered while running the model"} | SERVER_ERROR    | yes  | -      | F | -        | a line of a stream
					ollama       | 500 |      | {"error":"model requires more system memory (12.0 GiB) than is available (7.5 GiB)"} | MISCONFIGURED   | no   | -      | N | -        | does not come to fit
					ollama       | 500 |      | {"error":"unable to load model: /models/x"} | MISCONFIGURED   | no   | -      | N | -        | does not come to load
					ollama       | 500 |      | {"error":"unexpected EOF"} | SERVER_ERROR    | yes  | -      | F | -        | everything else
					ollama       | 404 |      | {"error":"model 'x' not found, try pulling it first"} | INVALID_REQUEST | no   | -      | S | -        | not pulled
					ollama       | 400 |      | {"error":"the input length exceeds the context length"} | TOO_LARGE       | no   | -      | S | -        | too long a prompt
					ollama       | 429 |      | {"error":"you have reached your weekly usage limit, upgrade for higher limits"} | QUOTA_EXHAUSTED | no   | -      | N | -        | its cloud
					ollama       | 502 |      | {"error":"cloud is unreachable"} | TIMEOUT         | yes  | -      | F | -        | its cloud
					""")
	void judgesOllama(@AggregateWith(RowReader.class) Row row) {
		row.check();
	}

}
