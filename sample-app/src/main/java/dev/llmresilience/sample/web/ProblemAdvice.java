package dev.llmresilience.sample.web;

import java.time.Instant;
import java.util.stream.Collectors;

import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Answers failures with problem details (RFC 9457).
 */
@RestControllerAdvice
class ProblemAdvice extends ResponseEntityExceptionHandler {

	/**
	 * A call that was refused before it reached the provider, or that left an exception
	 * of the provider's client behind, with the report that the library attaches to it.
	 * @param ex the exception
	 * @return the problem
	 */
	@ExceptionHandler
	ResponseEntity<ProblemDetail> handleFailedCall(Exception ex) {
		LlmCallReport report = LlmCallReport.find(ex);
		if (ex instanceof LlmCallRefusedException refused) {
			return CallProblem.of(refused, report).toResponse(Instant.now());
		}
		if (report != null) {
			return CallProblem.of(report).toResponse(Instant.now());
		}
		this.logger.error("Unexpected failure", ex);
		HttpStatus status = HttpStatus.INTERNAL_SERVER_ERROR;
		return ResponseEntity.status(status).body(ProblemDetail.forStatus(status));
	}

	/**
	 * A body that cannot be read: says what is allowed, not just "Failed to read
	 * request".
	 */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(HttpMessageNotReadableException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, whatIsAllowed(ex));
		return handleExceptionInternal(ex, problem, headers, status, request);
	}

	private static String whatIsAllowed(HttpMessageNotReadableException ex) {
		// What a record's constructor refuses arrives here wrapped by Jackson.
		if (ex.getRootCause() instanceof IllegalArgumentException refused) {
			return String.valueOf(refused.getMessage());
		}
		if (ex.getCause() instanceof UnrecognizedPropertyException unknown) {
			return "'%s' is unknown, known are %s".formatted(unknown.getPropertyName(), unknown.getKnownPropertyIds());
		}
		if (ex.getCause() instanceof JacksonException unreadable) {
			String where = unreadable.getPath()
				.stream()
				.map((reference) -> reference.getPropertyName() + ": ")
				.collect(Collectors.joining());
			return where + unreadable.getOriginalMessage();
		}
		return "The body must be a JSON object";
	}

}
