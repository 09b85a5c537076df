package dev.llmresilience.failure;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.policy.AttemptHistory;
import dev.llmresilience.policy.Decision;
import dev.llmresilience.policy.RetryDecider;
import dev.llmresilience.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.aggregator.ArgumentsAggregator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a line of a table of failures says, and whether it is so: asked of the classifier
 * and of the decision that follows from its answer.
 */
final class FailureTable {

	private FailureTable() {
	}

	/**
	 * Whether a failure is retried, by the built-in policy.
	 * @param failure the failure
	 * @return "yes", "once" or "no"
	 */
	static String retry(LlmFailure failure) {
		int retries = 0;
		AttemptHistory history = new AttemptHistory();
		RetryDecider.Situation situation = new RetryDecider.Situation(0, Duration.ofHours(1).toNanos(),
				Integer.MAX_VALUE, true, false, false, Integer.MAX_VALUE, true);
		for (int attempt = 1; attempt <= 3; attempt++) {
			history.failed(RetryDecider.ladder(failure), 0);
			Decision decision = RetryDecider.decide(RetryPolicy.DEFAULTS, history, failure, situation, () -> 0.5);
			if (!(decision instanceof Decision.Retry retry)) {
				break;
			}
			Duration hint = failure.hint();
			assertThat(retry.delayNanos()).as("never sooner than asked")
				.isGreaterThanOrEqualTo((hint != null) ? hint.toNanos() : 1);
			retries++;
		}
		return switch (retries) {
			case 0 -> "no";
			case 1 -> "once";
			default -> "yes";
		};
	}

	static String breaker(LlmFailure failure) {
		BreakerEffect effect = failure.kind().breakerEffect();
		return effect.name().substring(0, 1);
	}

	private static String hint(LlmFailure failure) {
		Duration hint = failure.hint();
		if (hint == null) {
			return "-";
		}
		BigDecimal seconds = BigDecimal.valueOf(hint.getSeconds()).add(BigDecimal.valueOf(hint.getNano(), 9));
		return ((seconds.signum() != 0) ? seconds.stripTrailingZeros() : seconds).toPlainString();
	}

	/**
	 * A line of a table.
	 */
	record Row(ProviderType type, int status, @Nullable String headers, @Nullable String body, String expected) {

		void check() {
			LlmFailure failure = Failures.classify(Failures.response(this.status, this.headers, this.body), this.type);
			String latch = (failure.latch() != LatchScope.NONE) ? failure.latch().name() : "-";
			assertThat(
					String.join(" | ", failure.kind().name(), retry(failure), hint(failure), breaker(failure), latch))
				.isEqualTo(this.expected);
			assertThat(failure.resetAt())
				.isEqualTo((failure.kind().name().equals("QUOTA_EXHAUSTED") && failure.hint() != null)
						? Failures.NOW.plus(failure.hint()) : null);
		}

	}

	/**
	 * Reads a line.
	 */
	static final class RowReader implements ArgumentsAggregator {

		@Override
		public Row aggregateArguments(ArgumentsAccessor cells, ParameterContext context) {
			ProviderType type = ProviderType.valueOf(cell(cells, 0).toUpperCase(Locale.ROOT).replace('-', '_'));
			return new Row(type, Integer.parseInt(cell(cells, 1)), cells.getString(2), cells.getString(3),
					String.join(" | ", cell(cells, 4), cell(cells, 5), cell(cells, 6), cell(cells, 7), cell(cells, 8)));
		}

		private static String cell(ArgumentsAccessor cells, int index) {
			return Objects.requireNonNull(cells.getString(index));
		}

	}

}
