package dev.llmresilience.engine;

import java.util.List;
import java.util.Objects;

import dev.llmresilience.LlmCall;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.tokens.TokenUsageReaders;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

/** What becomes of the tokens that a call was let out for. The clock stands still. */
class TokenUsageTests {

	private static final double LIMIT = 60_000;

	private final SettableTime time = new SettableTime();

	private final Provider provider = provider();

	private final BlockingDriver driver = new BlockingDriver(
			CallEngine.builder(this.time, SimulatedProvider.classifier(true))
				.usages(new TokenUsageReaders(List.of((result) -> (result instanceof TokenUsage usage) ? usage : null)))
				.build());

	@Test
	void theUsageThatTheResultStatesIsCharged() throws Throwable {
		call(1000, () -> new TokenUsage(300, 200));
		assertThat(used()).isEqualTo(500, within(0.1));
	}

	@Test
	void theUsageThatTheAttemptStatesIsChargedWhereTheResultSaysNothing() throws Throwable {
		call(1000, () -> {
			current().usedTokens(new TokenUsage(300, 200));
			current().usedTokens(new TokenUsage(30, 20));
			return "text";
		});
		assertThat(used()).isEqualTo(550, within(0.1));
	}

	@Test
	void theResultIsBelievedBeforeTheAttempt() throws Throwable {
		call(1000, () -> {
			current().usedTokens(new TokenUsage(1, 1));
			return new TokenUsage(300, 200);
		});
		assertThat(used()).isEqualTo(500, within(0.1));
	}

	@Test
	void whatAFailedAttemptStatedIsForgotten() throws Throwable {
		int[] attempts = { 0 };
		call(1000, () -> {
			if (attempts[0]++ == 0) {
				current().usedTokens(new TokenUsage(10_000, 0));
				throw new StatusException(500, null);
			}
			current().usedTokens(new TokenUsage(300, 200));
			return "text";
		});
		assertThat(used()).isEqualTo(500, within(0.1));
	}

	@Test
	void withoutUsageTheEstimateStands() throws Throwable {
		call(1000, () -> "text");
		assertThat(used()).as("half as high again, as nothing is known yet").isEqualTo(1500, within(0.1));
	}

	@Test
	void aRequestThatWasWrongUsesNothing() {
		assertThatThrownBy(() -> call(1000, () -> {
			throw new StatusException(400, null);
		})).isInstanceOf(StatusException.class);
		assertThat(used()).isEqualTo(0, within(0.1));
	}

	@Test
	void anAnswerThatDidNotSuitTheCallerHasUsedItsTokens() {
		assertThatThrownBy(() -> call(1000, () -> {
			throw new IllegalStateException("cannot parse");
		})).isInstanceOf(IllegalStateException.class);
		assertThat(used()).isEqualTo(1500, within(0.1));
	}

	@Test
	void aReaderThatFailsWithAnErrorCostsNeitherTheAnswerNorAPlace() throws Throwable {
		Provider one = provider(LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1)
			.withTokens(new TokenLimits(LIMIT, null, null, null)));
		BlockingDriver broken = new BlockingDriver(CallEngine.builder(this.time, SimulatedProvider.classifier(true))
			.usages(new TokenUsageReaders(List.of((result) -> {
				throw new StackOverflowError();
			})))
			.build());
		assertThat(broken.<Object>call(one, one.options(), () -> "text", null)).isEqualTo("text");
		assertThat(one.limiter().inFlight()).isZero();
	}

	private static LlmCall current() {
		return Objects.requireNonNull(LlmCall.current());
	}

	private void call(long estimate, BlockingDriver.Body<Object> body) throws Throwable {
		this.driver.call(CallPlan.of(this.provider, this.provider.options()), null, estimate, body, null);
	}

	private double used() {
		return LIMIT - this.provider.limiter().level(Dimension.TOKENS);
	}

	private Provider provider() {
		return provider(LimiterSettings.DEFAULTS.withTokens(new TokenLimits(LIMIT, null, null, null)));
	}

	private Provider provider(LimiterSettings limiter) {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		ProviderSettings settings = new ProviderSettings("p", defaults.type(), "p", List.of(),
				RetryPolicy.DEFAULTS.withAttempts(2, 0), CallSettings.DEFAULTS, limiter, null, null, null,
				defaults.quotaCoolDown());
		return new Providers(List.of(settings), this.time, GuardListener.NONE).get("p");
	}

}
