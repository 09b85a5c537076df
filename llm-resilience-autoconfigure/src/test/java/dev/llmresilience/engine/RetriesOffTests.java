package dev.llmresilience.engine;

import java.time.Duration;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.engine.Shape.Running;
import dev.llmresilience.engine.Shape.Script;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * An operator switches the retries of a provider entry off: whoever drives a call, it
 * makes one attempt.
 */
class RetriesOffTests {

	private final Simulation simulation = new Simulation();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	private void switchOff(String name) {
		this.simulation.providers().setRetries(name, false);
	}

	@ParameterizedTest
	@EnumSource
	void theFirstFailureIsTheLast(Shape shape) {
		this.simulation.with("p");
		switchOff("p");
		StatusException failure = status(503);
		Script script = Script.failing(failure, status(503));
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.thrown()).isSameAs(failure);
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.RETRIES_OFF);
		assertThat(call.ended()).isZero();
		assertThat(script.attempts()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	void aRateLimitThatTheLimiterWouldPaceIsNotRetriedEither(Shape shape) {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS, null, null);
		switchOff("p");
		Script script = Script.failing(new StatusException(429, Duration.ofSeconds(2)));
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.RETRIES_OFF);
		assertThat(call.report().retryAt()).isNotNull();
		assertThat(script.attempts()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	void aCallThatSucceedsIsNotTouched(Shape shape) {
		this.simulation.with("p");
		switchOff("p");
		assertThat(shape.run(this.simulation, "p", Script.failing()).result()).isEqualTo("answer");
	}

	@ParameterizedTest
	@EnumSource
	void switchedOnAgainCallsAreRetried(Shape shape) {
		this.simulation.with("p");
		switchOff("p");
		this.simulation.providers().setRetries("p", true);
		Script script = Script.failing(status(503), status(503));
		assertThat(shape.run(this.simulation, "p", script).result()).isEqualTo("answer");
		assertThat(script.attempts()).isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource
	void otherEntriesRetryAsEver(Shape shape) {
		this.simulation.with("p").with("q");
		switchOff("p");
		Script script = Script.failing(status(503));
		assertThat(shape.run(this.simulation, "q", script).result()).isEqualTo("answer");
		assertThat(script.attempts()).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void theNextProviderTakesOverAtOnce(Shape shape) {
		this.simulation.with("p").with("q");
		switchOff("p");
		Script script = Script.failing(status(503));
		Running call = shape.start(this.simulation, this.simulation.plan("p", "q"), script);
		this.simulation.time.runFor(Duration.ofHours(1));
		assertThat(call.result()).isEqualTo("answer");
		assertThat(call.ended()).isZero();
		assertThat(script.attempts()).isEqualTo(2);
	}

	@Test
	void theFallbackAnswers() throws Throwable {
		this.simulation.with("p");
		switchOff("p");
		assertThat(this.simulation.run(() -> this.simulation.call("p", this.simulation.options("p"), () -> {
			throw status(503);
		}, (failure) -> "fallback")).result()).isEqualTo("fallback");
	}

	@ParameterizedTest
	@CsvSource({ "400, NOT_RETRYABLE", "401, NOT_RETRYABLE", "503, RETRIES_OFF" })
	void whatNobodyWouldRetryKeepsItsReason(int status, GiveUpReason reason) {
		this.simulation.with("p");
		switchOff("p");
		Running call = Shape.BLOCKING.run(this.simulation, "p", Script.failing(status(status)));
		assertThat(call.report().reason()).isEqualTo(reason);
	}

	@Test
	void nothingIsTakenFromTheBudget() {
		this.simulation.with("p");
		switchOff("p");
		double before = budget();
		Shape.BLOCKING.run(this.simulation, "p", Script.failing(status(503)));
		assertThat(budget()).isEqualTo(before);
	}

	private double budget() {
		return Objects.requireNonNull(this.simulation.providers().get("p").budget()).tokens();
	}

	@Test
	void theSwitchHoldsForTheValuesOfAKeyThatAreThereAndForThoseToCome() {
		this.simulation.with("p");
		KeyedProviders keyed = this.simulation.providers().keyed("p");
		KeyedProvider before = Objects.requireNonNull(keyed.lease("before"));
		switchOff("p");
		assertThat(before.provider().areRetriesOn()).isFalse();
		assertThat(Objects.requireNonNull(keyed.lease("after")).provider().areRetriesOn()).isFalse();
	}

	@Test
	void clearingTheLatchesOfAnEntryClearsThoseOfItsAccountAndOfItsKeyValues() {
		this.simulation.with("p");
		Provider entry = this.simulation.providers().get("p");
		Provider keyed = Objects.requireNonNull(this.simulation.providers().keyed("p").lease("key")).provider();
		for (Provider provider : new Provider[] { entry, keyed }) {
			provider.quota().latch("daily", null);
			provider.accountQuota().latch("money", null);
		}
		this.simulation.providers().clearLatches("p");
		assertThat(entry.isInTrouble()).isFalse();
		assertThat(keyed.isInTrouble()).isFalse();
	}

	@Test
	void aLatchSaysSinceWhenItHolds() {
		this.simulation.with("p");
		this.simulation.classifier = (thrown, context) -> LlmFailure.of(FailureKind.QUOTA_EXHAUSTED)
			.withCode("insufficient_quota")
			.withLatch(LatchScope.ACCOUNT, null);
		this.simulation.time.runFor(Duration.ofSeconds(7));
		Shape.BLOCKING.run(this.simulation, "p", Script.failing(status(429)));
		assertThat(this.simulation.providers().get("p").accountQuota().snapshot()).satisfies((latched) -> {
			assertThat(latched.code()).isEqualTo("insufficient_quota");
			assertThat(latched.since()).isEqualTo("2026-10-01T00:00:07Z");
			assertThat(latched.nextProbeAt()).isEqualTo("2026-10-01T00:05:07Z");
		});
	}

	@Test
	void anUnknownEntryIsRefused() {
		this.simulation.with("p");
		assertThatIllegalArgumentException().isThrownBy(() -> switchOff("nobody"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.simulation.providers().clearLatches("nobody"));
	}

}
