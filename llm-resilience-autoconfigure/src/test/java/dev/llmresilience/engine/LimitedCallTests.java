package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.RateLimitWaitException;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.engine.Simulation.Script;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.time.SystemTimeSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.HttpClientErrorException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The limiter under calls: whatever becomes of a call, what it took of the limiter is
 * free again, and hints reach the limiter within bounds.
 */
class LimitedCallTests {

	private static final LimiterSettings ONE_PLACE = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
		.withRate(6000.0, 100)
		.withMaxConcurrentCalls(1);

	private static final LimiterSettings TEN_PER_SECOND = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
		.withRate(600.0, 1);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Simulation simulation = new Simulation();

	@AfterEach
	void closeSimulation() {
		this.simulation.close();
	}

	/* Places in flight. */

	@Test
	void theNextCallBeginsWhenThePlaceIsFree() {
		entry(ONE_PLACE);
		this.simulation.start("p", slow(SECOND));
		Caller<String> next = this.simulation.start("p", slow(SECOND));
		this.simulation.time.run();
		assertThat(next.ended()).isEqualTo(Duration.ofSeconds(2));
		assertThatNoPlaceIsTaken();
	}

	@ParameterizedTest
	@ValueSource(ints = { 400, 500, 429 })
	void aFailedAttemptGivesItsPlaceBackBeforeTheNextOne(int status) {
		entry(ONE_PLACE);
		Caller<String> caller = this.simulation.start("p", new Script(Simulation.status(status)));
		Caller<String> other = this.simulation.start("p", new Script());
		this.simulation.time.run();
		assertThat(other.result()).isEqualTo("answer");
		assertThat(caller.ended()).isLessThan(Duration.ofSeconds(3));
		assertThatNoPlaceIsTaken();
	}

	@Test
	void aCallThatIsInterruptedInItsAttemptGivesItsPlaceBack() {
		entry(ONE_PLACE);
		Caller<String> caller = this.simulation.start("p", () -> {
			this.simulation.time.waiter().await(Duration.ofMinutes(1).toNanos());
			return "late";
		});
		Caller<String> next = this.simulation.start("p", new Script());
		this.simulation.interruptAfter(SECOND, caller);
		this.simulation.time.run();
		assertThat(next.ended()).isEqualTo(SECOND);
		assertThatNoPlaceIsTaken();
	}

	@Test
	void aCallThatIsInterruptedWhileItWaitsForAPlaceTakesNone() {
		entry(ONE_PLACE);
		this.simulation.start("p", slow(Duration.ofSeconds(5)));
		Caller<String> waiting = this.simulation.start("p", new Script());
		this.simulation.interruptAfter(SECOND, waiting);
		this.simulation.time.run();
		assertThat(waiting.thrown()).isInstanceOf(CancellationException.class);
		assertThat(waiting.ended()).isEqualTo(SECOND);
		assertThatNoPlaceIsTaken();
	}

	@Test
	void aCallThatTheBreakerRefusesAfterItsTurnGivesItsPlaceBack() {
		this.simulation.with("p", Simulation.EXACT, ONE_PLACE.withMaxConcurrentCalls(2), null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		this.simulation.start("p", slow(SECOND));
		Caller<String> refused = this.simulation.start("p", new Script());
		this.simulation.time.run();
		assertThat(refused.thrown()).isInstanceOf(CircuitOpenException.class);
		assertThatNoPlaceIsTaken();
	}

	@Test
	void aCallWhoseNestedCallGaveUpGivesItsPlaceBack() {
		entry(ONE_PLACE);
		this.simulation.with("inner");
		this.simulation.run("p", () -> this.simulation.call("inner", new Script(Simulation.status(400)))).thrown();
		assertThatNoPlaceIsTaken();
	}

	@Test
	void aCallWhoseFailureCannotBeJudgedGivesItsPlaceBack() {
		entry(ONE_PLACE);
		this.simulation.classifier = (thrown, context) -> {
			throw new AssertionError("a judge that breaks");
		};
		this.simulation.run("p", new Script(new IllegalStateException("failed"))).thrown();
		assertThatNoPlaceIsTaken();
	}

	/* Nested calls. */

	@Test
	void aNestedCallUnderTheSameLimiterDoesNotWaitForThePlaceOfTheCallAroundIt() {
		entry(ONE_PLACE);
		Caller<String> caller = this.simulation.run("p", () -> this.simulation.call("p", new Script()));
		assertThat(caller.result()).isEqualTo("answer");
		assertThatNoPlaceIsTaken();
	}

	@Test
	void norDoesItWaitForThoseWhoWaitForThatPlace() {
		entry(ONE_PLACE);
		Caller<String> outer = this.simulation.start("p", () -> {
			this.simulation.time.sleep(SECOND);
			return this.simulation.call("p", new Script());
		});
		Caller<String> waiting = this.simulation.start("p", new Script());
		this.simulation.time.run();
		assertThat(outer.result()).isEqualTo("answer");
		assertThat(outer.ended()).isEqualTo(SECOND);
		assertThat(waiting.ended()).isEqualTo(SECOND);
	}

	/* Refusals. */

	/** A call of 200 tokens on a limit of 100. */
	@Test
	void aCallLargerThanTheLimitIsRefusedAtOnceAndTheMessageNamesTheProperty() {
		entry(LimiterSettings.DEFAULTS.withTokens(new TokenLimits(100.0, null, null, null)));
		Script script = new Script();
		Caller<String> caller = this.simulation.run(() -> new BlockingDriver(this.simulation.engine()).call(
				CallPlan.of(this.simulation.providers().get("p"), this.simulation.options("p")), null, 200, script,
				null));
		assertThat(caller.thrown()).isInstanceOf(RateLimitWaitException.class)
			.hasMessageContaining("llm.resilience.providers.p.limiter.tokens-per-minute");
		assertThat(caller.ended()).isZero();
		assertThat(script.attempts()).isZero();
	}

	@Test
	void openingRefusesAThousandWhoWaitAtTheSameMoment() {
		this.simulation.with("p", Simulation.EXACT.withAttempts(1, 0), TEN_PER_SECOND, null, Simulation.threshold(1));
		this.simulation.start("p", () -> {
			this.simulation.time.sleep(Duration.ofMillis(90));
			throw Simulation.status(500);
		});
		List<Caller<String>> waiting = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			waiting.add(this.simulation.start("p", new Script()));
		}
		this.simulation.time.run();
		assertThat(waiting).allSatisfy((caller) -> {
			assertThat(caller.thrown()).isInstanceOf(CircuitOpenException.class);
			assertThat(caller.ended()).isEqualTo(Duration.ofMillis(90));
		});
	}

	@Test
	void openingWakesAThousandThreadsWithinMoments() throws Throwable {
		try (SystemTimeSource time = new SystemTimeSource()) {
			this.simulation.with("p", RetryPolicy.DEFAULTS, TEN_PER_SECOND, null, Simulation.threshold(1));
			Provider provider = new Providers(this.simulation.settings, time, GuardListener.NONE).get("p");
			BlockingDriver driver = new BlockingDriver(new CallEngine(time, this.simulation.classifier));
			driver.call(provider, provider.options(), () -> "takes the only slot", null);
			CountDownLatch ended = new CountDownLatch(1000);
			for (int i = 0; i < 1000; i++) {
				Thread thread = new Thread(() -> waitInVain(driver, provider, ended));
				thread.setDaemon(true);
				thread.start();
			}
			await().until(() -> provider.limiter().waiting() >= ended.getCount());
			long start = System.nanoTime();
			Objects.requireNonNull(provider.breaker()).forceOpen();
			assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
			System.out.printf(Locale.ROOT, "The breaker opened on 1,000 waiting threads: all refused after %.0f ms%n",
					(System.nanoTime() - start) / 1e6);
		}
	}

	/* Hints. */

	/** Azure said 24 hours for a limit a minute long. */
	@Test
	void aHintOfADayPausesTheLimiterNoLongerThanMaxRetryAfter() {
		entry(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 5));
		Caller<String> caller = this.simulation.start("p", new Script(new StatusException(429, Duration.ofHours(24))));
		Caller<String> next = this.simulation.startAfter(SECOND, () -> this.simulation.call("p", new Script()));
		this.simulation.time.run();
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.RETRY_AFTER);
		assertThat(caller.ended()).isZero();
		assertThat(next.ended()).isEqualTo(Duration.ofMinutes(2));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRetryAfterOfZeroIsNoHint(boolean adaptive) {
		this.simulation.classifier = new DefaultFailureClassifier();
		this.simulation.with("p", Simulation.EXACT.withAttempts(4, 3),
				LimiterSettings.DEFAULTS.withMode(adaptive ? LimiterMode.ADAPTIVE : LimiterMode.FIXED)
					.withRate(6000.0, 100),
				null, null);
		List<Duration> attempts = new ArrayList<>();
		Caller<String> caller = this.simulation.run("p", () -> {
			attempts.add(this.simulation.time.elapsed());
			HttpHeaders headers = new HttpHeaders();
			headers.set("Retry-After", "0");
			throw HttpClientErrorException.create(HttpStatus.TOO_MANY_REQUESTS, "", headers, new byte[0], null);
		});
		assertThat(caller.report().lastKind()).isEqualTo(FailureKind.RATE_LIMITED);
		assertThat(attempts).hasSize(4);
		assertThat(attempts.get(3)).isGreaterThan(Duration.ZERO);
	}

	/** One model's limit, with a hint of 46 s, does not touch the other's. */
	@Test
	void aRejectionOfOneEntryDoesNotTouchAnother() {
		entry(LimiterSettings.DEFAULTS);
		this.simulation.with("other", Simulation.EXACT, LimiterSettings.DEFAULTS, null, null);
		this.simulation.start("p", new Script(new StatusException(429, Duration.ofSeconds(46))));
		Caller<String> same = this.simulation.startAfter(SECOND, () -> this.simulation.call("p", new Script()));
		Caller<String> other = this.simulation.startAfter(SECOND, () -> this.simulation.call("other", new Script()));
		this.simulation.time.run();
		assertThat(same.ended()).isGreaterThanOrEqualTo(Duration.ofSeconds(46));
		assertThat(other.ended()).isEqualTo(SECOND);
	}

	private void entry(LimiterSettings limiter) {
		this.simulation.with("p", Simulation.EXACT, limiter, null, null);
	}

	private BlockingDriver.Body<String> slow(Duration duration) {
		return () -> {
			this.simulation.time.sleep(duration);
			return "answer";
		};
	}

	private void assertThatNoPlaceIsTaken() {
		assertThat(this.simulation.providers().get("p").limiter().inFlight()).isZero();
	}

	private static void waitInVain(BlockingDriver driver, Provider provider, CountDownLatch ended) {
		try {
			driver.call(provider, provider.options(), () -> "its turn came", null);
			ended.countDown();
		}
		catch (CircuitOpenException ex) {
			ended.countDown();
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

}
