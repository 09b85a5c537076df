package dev.llmresilience.sample.web;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

/**
 * A call to a model that failed, as our own callers may know it: no prompt, no answer, no
 * text of the provider's.
 *
 * @param status the HTTP status
 * @param detail a sentence for people
 * @param kind the kind of the last failure, {@code REFUSED} where no attempt was made
 * @param attempts how many attempts failed
 * @param reason why no further attempt was made
 * @param retryAt when it makes sense to come back, {@code null} where unknown
 */
record CallProblem(HttpStatus status, String detail, String kind, int attempts, GiveUpReason reason,
		@Nullable Instant retryAt) {

	static CallProblem of(LlmCallReport report) {
		FailureKind kind = report.lastKind();
		GiveUpReason reason = Objects.requireNonNull(report.reason());
		return new CallProblem((kind != null) ? status(kind) : status(reason), String.valueOf(report.getMessage()),
				(kind != null) ? kind.name() : "REFUSED", report.attempts().size(), reason, report.retryAt());
	}

	static CallProblem of(LlmCallRefusedException refused, @Nullable LlmCallReport report) {
		return new CallProblem(status(refused.reason()), String.valueOf(refused.getMessage()), "REFUSED",
				(report != null) ? report.attempts().size() : 0, refused.reason(), refused.retryAt());
	}

	ResponseEntity<ProblemDetail> toResponse(Instant now) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(this.status, this.detail);
		problem.setTitle("The model did not answer");
		problem.setProperty("kind", this.kind);
		problem.setProperty("attempts", this.attempts);
		problem.setProperty("reason", this.reason);
		ResponseEntity.BodyBuilder response = ResponseEntity.status(this.status);
		if (this.retryAt != null) {
			problem.setProperty("retryAt", this.retryAt);
			long seconds = Duration.between(now, this.retryAt).plusNanos(999_999_999).toSeconds();
			response.header(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(0, seconds)));
		}
		return response.body(problem);
	}

	private static HttpStatus status(FailureKind kind) {
		return switch (kind) {
			case RATE_LIMITED -> HttpStatus.TOO_MANY_REQUESTS;
			case OVERLOADED, QUOTA_EXHAUSTED, CANCELLED -> HttpStatus.SERVICE_UNAVAILABLE;
			case SERVER_ERROR, CONNECTION, CONFLICT, UNAUTHORIZED, MISCONFIGURED -> HttpStatus.BAD_GATEWAY;
			case TIMEOUT -> HttpStatus.GATEWAY_TIMEOUT;
			case TOO_LARGE, INVALID_REQUEST -> HttpStatus.BAD_REQUEST;
			case APPLICATION -> HttpStatus.INTERNAL_SERVER_ERROR;
		};
	}

	private static HttpStatus status(GiveUpReason reason) {
		return switch (reason) {
			case LIMITER -> HttpStatus.TOO_MANY_REQUESTS;
			case DEADLINE -> HttpStatus.GATEWAY_TIMEOUT;
			default -> HttpStatus.SERVICE_UNAVAILABLE;
		};
	}

}
