package dev.llmresilience.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmResultException;
import dev.llmresilience.failure.ResultClassifier;
import dev.llmresilience.failure.ResultClassifiers;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Results that are failures: a 200 with an error inside.
 */
class ResultFailureTests {

	private static final ResultClassifier ERRORS = (result, context) -> result.equals("overloaded")
			? LlmFailure.of(FailureKind.OVERLOADED)
			: result.equals("bad") ? LlmFailure.of(FailureKind.INVALID_REQUEST) : null;

	private final AtomicInteger attempts = new AtomicInteger();

	@Test
	void aResultThatIsAFailureIsRetriedLikeAThrownOne() {
		assertThat(call("overloaded", "overloaded", "answer")).isEqualTo("answer");
		assertThat(this.attempts).hasValue(3);
	}

	@Test
	void aResultThatIsAFailureForGoodReachesTheCallerAsAnException() {
		Object outcome = call("bad", "answer");
		assertThat(this.attempts).hasValue(1);
		assertThat(outcome).isInstanceOf(LlmResultException.class);
		assertThat(LlmCallReport.find((Throwable) outcome)).isNotNull()
			.satisfies((report) -> assertThat(report.attempts()).extracting(Attempt::kind)
				.containsExactly(FailureKind.INVALID_REQUEST));
	}

	@Test
	void noResultIsNoFailure() {
		try (VirtualTime time = new VirtualTime(1)) {
			CallEngine engine = engine(time);
			assertThatNoException().isThrownBy(() -> engine.judge().check(null, provider(time)));
		}
	}

	private static CallEngine engine(VirtualTime time) {
		return CallEngine.builder(time, SimulatedProvider.classifier(true))
			.results(new ResultClassifiers(List.of(ERRORS)))
			.build();
	}

	private static Provider provider(VirtualTime time) {
		return new Providers(List.of(ProviderSettings.defaults("p")), time, GuardListener.NONE).get("p");
	}

	/** Makes a call whose attempts return these results, and gives what comes of it. */
	private Object call(Object... results) {
		Object[] outcome = new Object[] { "nothing" };
		try (VirtualTime time = new VirtualTime(1)) {
			BlockingDriver driver = new BlockingDriver(engine(time));
			Provider provider = provider(time);
			time.start(() -> {
				Throwable thrown = catchThrowable(() -> outcome[0] = driver.call(provider, provider.options(),
						() -> results[this.attempts.getAndIncrement()], null));
				if (thrown != null) {
					outcome[0] = thrown;
				}
			});
			time.run();
		}
		return outcome[0];
	}

}
