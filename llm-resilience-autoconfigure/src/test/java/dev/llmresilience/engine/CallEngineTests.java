package dev.llmresilience.engine;

import java.util.List;

import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;

class CallEngineTests {

	private static final ChatResponse RESPONSE = new ChatResponse(List.of(),
			ChatResponseMetadata.builder().usage(new DefaultUsage(11, 7)).build());

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class));

	@Test
	void readsTheUsageOfAResultOfALibrary() {
		this.runner.run((context) -> {
			CallEngine engine = context.getBean(CallEngine.class);
			assertThat(engine.usage(RESPONSE)).isEqualTo(new TokenUsage(11, 7));
			assertThat(engine.usage("an answer")).isNull();
			assertThat(engine.usage(null)).isNull();
		});
	}

	@Test
	void theApplicationsReadersAreAskedFirstInTheirOrder() {
		this.runner.withUserConfiguration(Readers.class).run((context) -> {
			CallEngine engine = context.getBean(CallEngine.class);
			assertThat(engine.usage("an answer")).isEqualTo(new TokenUsage(1, 0));
			assertThat(engine.usage(RESPONSE)).isEqualTo(new TokenUsage(2, 0));
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Readers {

		@Bean
		@Order(2)
		TokenUsageReader second() {
			return (result) -> new TokenUsage(2, 0);
		}

		@Bean
		@Order(1)
		TokenUsageReader first() {
			return (result) -> (result instanceof String) ? new TokenUsage(1, 0) : null;
		}

	}

}
