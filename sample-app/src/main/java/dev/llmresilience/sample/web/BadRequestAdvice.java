package dev.llmresilience.sample.web;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Answers a body that cannot be read with problem details that say what is allowed,
 * instead of Spring's "Failed to read request".
 */
@RestControllerAdvice
class BadRequestAdvice extends ResponseEntityExceptionHandler {

	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(HttpMessageNotReadableException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail(ex));
		return handleExceptionInternal(ex, problem, headers, status, request);
	}

	private static String detail(HttpMessageNotReadableException ex) {
		// What a record's constructor refuses arrives here wrapped by Jackson.
		if (ex.getRootCause() instanceof IllegalArgumentException refused) {
			return String.valueOf(refused.getMessage());
		}
		if (ex.getCause() instanceof UnrecognizedPropertyException unknown) {
			return "'%s' is unknown, known are %s".formatted(unknown.getPropertyName(), unknown.getKnownPropertyIds());
		}
		if (ex.getCause() instanceof JacksonException unreadable) {
			return unreadable.getOriginalMessage();
		}
		return "The body must be a JSON object";
	}

}
