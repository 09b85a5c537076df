package dev.llmresilience.web;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Makes problem details (RFC 9457) of refusals that reach a controller of Spring MVC or
 * WebFlux, with a Retry-After where it is known when to come back. Thread-safe.
 * <p>
 * An open breaker, an exhausted quota and a shutdown are 503: the service cannot be had
 * at present, whoever calls. A limiter without a place in time is 429, and 413 for a call
 * that is larger than the whole limit, which no waiting helps. A deadline that has passed
 * is 504. An advice of the application's own with an order below 0 is asked first.
 */
@RestControllerAdvice
@Order(0)
public class ProblemDetailsAdvice {

	private final TimeSource time;

	/**
	 * Creates the advice.
	 * @param time the clock
	 */
	public ProblemDetailsAdvice(TimeSource time) {
		this.time = time;
	}

	/**
	 * Answers a refusal.
	 * @param refused the refusal
	 * @return the problem
	 */
	@ExceptionHandler
	public ResponseEntity<ProblemDetail> handle(LlmCallRefusedException refused) {
		HttpStatus status = status(refused);
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail(refused));
		problem.setTitle("Call to a model refused");
		problem.setProperty("provider", refused.provider());
		problem.setProperty("reason", refused.reason());
		ResponseEntity.BodyBuilder response = ResponseEntity.status(status);
		Instant retryAt = refused.retryAt();
		if (retryAt != null) {
			problem.setProperty("retryAt", retryAt.truncatedTo(ChronoUnit.MILLIS));
			response.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds(retryAt)));
		}
		return response.body(problem);
	}

	/** Whole seconds, rounded up, so that nobody comes back too early. */
	private long seconds(Instant retryAt) {
		return Math.max(0, Duration.between(this.time.now(), retryAt).plusNanos(999_999_999).toSeconds());
	}

	private static HttpStatus status(LlmCallRefusedException refused) {
		return switch (refused.reason()) {
			case LIMITER -> isHopeless(refused.retryAt()) ? HttpStatus.CONTENT_TOO_LARGE : HttpStatus.TOO_MANY_REQUESTS;
			case DEADLINE -> HttpStatus.GATEWAY_TIMEOUT;
			default -> HttpStatus.SERVICE_UNAVAILABLE;
		};
	}

	/** A limiter knows when each call could leave that ever can. */
	private static boolean isHopeless(@Nullable Instant retryAt) {
		return retryAt == null;
	}

	private static String detail(LlmCallRefusedException refused) {
		return switch (refused.reason()) {
			case BREAKER -> "The provider does not answer at present.";
			case QUOTA -> "The quota of the provider is exhausted.";
			case LIMITER -> isHopeless(refused.retryAt()) ? "The call is larger than the provider's whole limit."
					: "The provider's rate limit leaves no place in time.";
			case DEADLINE -> "The time for the call was over before it could be made.";
			case SHUTDOWN -> "The application is shutting down.";
			default -> "The call was refused.";
		};
	}

}
