package dev.llmresilience.autoconfigure;

import dev.llmresilience.time.TimeSource;
import dev.llmresilience.web.ProblemDetailsAdvice;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Auto-configuration of problem details for refusals, in web applications that ask for
 * them.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnClass(RestControllerAdvice.class)
@ConditionalOnWebApplication
@ConditionalOnBooleanProperty("llm.resilience.web.problem-details")
public final class ProblemDetailsAutoConfiguration {

	ProblemDetailsAutoConfiguration() {
	}

	@Bean
	@ConditionalOnBean(TimeSource.class)
	@ConditionalOnMissingBean
	ProblemDetailsAdvice llmProblemDetailsAdvice(TimeSource time) {
		return new ProblemDetailsAdvice(time);
	}

}
