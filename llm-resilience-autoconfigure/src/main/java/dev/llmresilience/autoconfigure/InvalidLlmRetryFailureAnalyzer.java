package dev.llmresilience.autoconfigure;

import dev.llmresilience.aop.InvalidLlmRetryException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says which annotation cannot work, and what to do.
 */
final class InvalidLlmRetryFailureAnalyzer extends AbstractFailureAnalyzer<InvalidLlmRetryException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidLlmRetryException cause) {
		return new FailureAnalysis(cause.getMessage() + ".", cause.action(), cause);
	}

}
