package dev.llmresilience.failure;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What stands where an error has its code is only kept if it looks like one.
 */
class CodesTests {

	@ParameterizedTest
	@ValueSource(strings = { "rate_limit_error", "enforced_spend_limit_reached", "ThrottlingException",
			"resource-exhausted", "unauthenticated:bad-credentials", "1113" })
	void codesOfProvidersAreKept(String code) {
		assertThat(LlmFailure.of(FailureKind.SERVER_ERROR).withCode(code).code()).isEqualTo(code);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "sk-ant-api03-R2D2", "you said: hello", "AIzaSyA1", "12345678901",
			"a_word_that_is_so_long_that_nobody_would_make_a_code_of_it_not_even_once" })
	void whatMayBeAnythingIsNot(String text) {
		assertThat(LlmFailure.of(FailureKind.SERVER_ERROR).withCode(text).code()).isNull();
	}

}
