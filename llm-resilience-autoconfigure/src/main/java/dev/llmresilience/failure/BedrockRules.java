package dev.llmresilience.failure;

import java.util.Map;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * AWS Bedrock's words: the names of its exceptions, which its API reference lists and
 * which come in a header, a field of the body or the type of a stream's event. A name is
 * always more telling than the status: that of a stream's event is made up.
 */
final class BedrockRules implements ProviderRules {

	private static final String MODEL_ERROR = "modelerrorexception";

	private static final Map<String, FailureKind> NAMES = Map.ofEntries(
			Map.entry("throttlingexception", FailureKind.RATE_LIMITED),
			Map.entry("throttling", FailureKind.RATE_LIMITED),
			Map.entry("toomanyrequestsexception", FailureKind.RATE_LIMITED),
			Map.entry("modelnotreadyexception", FailureKind.RATE_LIMITED),
			Map.entry("serviceunavailableexception", FailureKind.OVERLOADED),
			Map.entry("serviceunavailable", FailureKind.OVERLOADED),
			Map.entry("internalserverexception", FailureKind.SERVER_ERROR),
			Map.entry("internalfailure", FailureKind.SERVER_ERROR),
			Map.entry("modelstreamerrorexception", FailureKind.SERVER_ERROR),
			Map.entry("modeltimeoutexception", FailureKind.TIMEOUT),
			Map.entry("conflictexception", FailureKind.CONFLICT),
			// The subscription that a first call starts is settled within minutes.
			Map.entry("mpagreementbeingcreated", FailureKind.CONFLICT),
			Map.entry("accessdeniedexception", FailureKind.UNAUTHORIZED),
			Map.entry("unrecognizedclientexception", FailureKind.UNAUTHORIZED),
			Map.entry("invalidclienttokenid", FailureKind.UNAUTHORIZED),
			Map.entry("invalidsignatureexception", FailureKind.UNAUTHORIZED),
			Map.entry("incompletesignature", FailureKind.UNAUTHORIZED),
			Map.entry("expiredtokenexception", FailureKind.UNAUTHORIZED),
			Map.entry("requestexpired", FailureKind.UNAUTHORIZED),
			Map.entry("validationexception", FailureKind.INVALID_REQUEST),
			Map.entry("validationerror", FailureKind.INVALID_REQUEST),
			Map.entry("resourcenotfoundexception", FailureKind.INVALID_REQUEST),
			Map.entry("ftuformnotfilled", FailureKind.INVALID_REQUEST));

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		if (body.has(MODEL_ERROR)) {
			// The model's own server failed, and often says how.
			return (body.status() != 0) ? StatusTable.kind(body.status()) : FailureKind.SERVER_ERROR;
		}
		return body.meaning(NAMES);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return body.has("servicequotaexceededexception")
				? new Quota("ServiceQuotaExceededException", LatchScope.PROVIDER) : null;
	}

}
