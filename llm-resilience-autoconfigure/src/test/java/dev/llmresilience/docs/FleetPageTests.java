package dev.llmresilience.docs;

import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.limiter.LimiterSettings;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code docs/fleet.md} says what a process of several does.
 */
class FleetPageTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
		.withInitializer((context) -> Page.properties(Page.of("fleet.md").blocks("yaml").get(0))
			.forEach(context.getEnvironment().getPropertySources()::addFirst));

	@Test
	void aProcessHasItsPartOfTheRateAndOfTheBudgetAndStartsWithoutABurst() {
		this.runner.run((context) -> {
			Providers providers = context.getBean(Providers.class);
			LimiterSettings limiter = providers.limiter("anthropic").settings();
			assertThat(limiter.share()).isEqualTo(0.25);
			assertThat(providers.limiter("anthropic").requestsPerMinute()).isEqualTo(150);
			assertThat(providers.limiter("anthropic").level()).isLessThan(1);
			assertThat(providers.budget("anthropic").tokens()).isEqualTo(12);
		});
	}

}
