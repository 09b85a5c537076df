package dev.llmresilience.failure;

import java.util.Locale;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ProviderType}.
 */
class ProviderTypeTests {

	@ParameterizedTest
	@CsvSource({ "ANTHROPIC, api.anthropic.com", "OPENAI, api.openai.com", "GROQ, api.groq.com",
			"MISTRAL, api.mistral.ai", "OPENROUTER, openrouter.ai", "XAI, api.x.ai", "COHERE, api.cohere.com",
			"DEEPSEEK, api.deepseek.com" })
	void aProviderAnswersFromItsOwnHosts(ProviderType type, String host) {
		assertThat(type.hosts()).contains(host);
	}

	@ParameterizedTest
	@EnumSource(names = { "AZURE_OPENAI", "GOOGLE", "BEDROCK", "OLLAMA", "GENERIC" })
	void anApiThatAnybodyMayHostAnswersFromAnywhere(ProviderType type) {
		assertThat(type.hosts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void hostsAreInLowerCase(ProviderType type) {
		assertThat(type.hosts()).allSatisfy((host) -> assertThat(host).isEqualTo(host.toLowerCase(Locale.ROOT)));
	}

}
