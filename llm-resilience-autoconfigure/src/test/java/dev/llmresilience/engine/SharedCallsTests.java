package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Equal calls at the same time, through the drivers: who makes the call, and what the
 * others get.
 */
class SharedCallsTests {

	private static final Object METHOD = "method";

	private final Simulation simulation = new Simulation();

	private final SharedCalls shared = new SharedCalls(this.simulation.engine());

	private int requests;

	@BeforeEach
	void entry() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(30)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
	}

	@AfterEach
	void end() {
		this.simulation.close();
	}

	/** A call whose request takes a second. */
	private Caller<Object> start(Object value, @Nullable Throwable failure) {
		CallPlan plan = this.simulation.plan("p");
		return this.simulation.start(() -> this.shared.call(METHOD, plan, value,
				() -> new BlockingDriver(this.simulation.engine()).<Object>call(plan, null, 0, () -> {
					int number = ++this.requests;
					this.simulation.time.sleep(Duration.ofSeconds(1));
					if (failure != null) {
						throw failure;
					}
					return "answer " + number;
				}, null)));
	}

	@Test
	void twoHundredEqualCallsAtOnceAreOneRequest() {
		List<Caller<Object>> callers = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			callers.add(start("equal", null));
		}
		this.simulation.time.run();
		assertThat(this.requests).isEqualTo(1);
		assertThat(callers).allSatisfy((caller) -> assertThat(caller.result()).isSameAs(callers.get(0).result()));
	}

	@Test
	void callsThatDifferAreMadeEach() {
		Caller<Object> one = start("one", null);
		Caller<Object> other = start("other", null);
		this.simulation.time.run();
		assertThat(List.of(one.result(), other.result())).containsExactlyInAnyOrder("answer 1", "answer 2");
	}

	@Test
	void nothingIsKeptOnceACallHasEnded() {
		start("equal", null);
		this.simulation.time.run();
		Caller<Object> later = start("equal", null);
		this.simulation.time.run();
		assertThat(later.result()).isEqualTo("answer 2");
	}

	@Test
	void aFailureOfTheProviderIsShared() {
		Throwable failure = status(400);
		Caller<Object> leader = start("equal", failure);
		Caller<Object> follower = start("equal", null);
		this.simulation.time.run();
		assertThat(leader.thrown()).isSameAs(failure);
		assertThat(follower.thrown()).isSameAs(failure);
		assertThat(this.requests).isEqualTo(1);
	}

	@Test
	void aFollowerTakesOverFromALeaderThatIsCancelled() {
		Caller<Object> leader = start("equal", null);
		Caller<Object> follower = start("equal", null);
		Caller<Object> another = start("equal", null);
		this.simulation.interruptAfter(Duration.ofMillis(500), leader);
		this.simulation.time.run();
		assertThat(leader.failed()).isTrue();
		assertThat(follower.result()).isEqualTo("answer 2");
		assertThat(another.result()).isSameAs(follower.result());
		assertThat(follower.ended()).isEqualTo(Duration.ofMillis(1500));
	}

	@Test
	void aFollowerThatIsCancelledLeavesTheOthersAlone() {
		Caller<Object> leader = start("equal", null);
		Caller<Object> follower = start("equal", null);
		this.simulation.interruptAfter(Duration.ofMillis(500), follower);
		this.simulation.time.run();
		assertThat(leader.result()).isEqualTo("answer 1");
		assertThat(follower.failed()).isTrue();
		assertThat(follower.interrupted()).isTrue();
		assertThat(follower.ended()).isEqualTo(Duration.ofMillis(500));
	}

	@Test
	void aFollowerWaitsNoLongerThanItsCallMayTake() {
		CallPlan plan = this.simulation.plan("p");
		Caller<Object> leader = this.simulation.start(() -> this.shared.call(METHOD, plan, "equal", () -> {
			this.simulation.time.sleep(Duration.ofMinutes(5));
			return "late";
		}));
		Caller<Object> follower = start("equal", null);
		this.simulation.time.run();
		assertThat(leader.result()).isEqualTo("late");
		assertThat(follower.thrown()).isInstanceOf(DeadlineExceededException.class);
		assertThat(follower.ended()).isEqualTo(Duration.ofSeconds(30));
	}

	@Test
	void aCallWithinAnEqualOneDoesNotWaitForItself() {
		CallPlan plan = this.simulation.plan("p");
		Caller<Object> caller = this.simulation.start(() -> this.shared.call(METHOD, plan, "equal",
				() -> this.shared.call(METHOD, plan, "equal", () -> "inner")));
		this.simulation.time.run();
		assertThat(caller.result()).isEqualTo("inner");
	}

	/** Calls that the test ends itself. */
	private final List<CompletableFuture<Object>> calls = new ArrayList<>();

	private CompletableFuture<Object> begin() {
		return this.shared.callAsync(METHOD, this.simulation.plan("p"), "equal", () -> {
			CompletableFuture<Object> call = new CompletableFuture<>();
			this.calls.add(call);
			return call;
		});
	}

	@Test
	void twoHundredEqualFuturesAtOnceAreOneCall() {
		List<CompletableFuture<Object>> all = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			all.add(begin());
		}
		assertThat(this.calls).hasSize(1);
		this.calls.get(0).complete("answer");
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(all).allSatisfy((one) -> assertThat(one).isCompletedWithValue("answer"));
	}

	@Test
	void aFutureThatIsCancelledLeavesTheLeadToTheNext() {
		CompletableFuture<Object> leader = begin();
		CompletableFuture<Object> follower = begin();
		leader.cancel(true);
		assertThat(this.calls.get(0)).isCancelled();
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(this.calls).hasSize(2);
		this.calls.get(1).complete("answer");
		assertThat(follower).isCompletedWithValue("answer");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aFailedFutureFailsThoseWhoShareItUnlessItWasRefusedHere(boolean refused) {
		CompletableFuture<Object> leader = begin();
		CompletableFuture<Object> follower = begin();
		Throwable failure = refused ? new DeadlineExceededException("p") : status(500);
		this.calls.get(0).completeExceptionally(failure);
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(catchThrowable(leader::get)).isInstanceOf(ExecutionException.class).hasCause(failure);
		if (refused) {
			this.calls.get(1).complete("answer");
			assertThat(follower).isCompletedWithValue("answer");
		}
		else {
			assertThat(catchThrowable(follower::get)).hasCause(failure);
		}
	}

	@Test
	void aFollowingFutureWaitsNoLongerThanItsCallMayTake() {
		CompletableFuture<Object> leader = begin();
		CompletableFuture<Object> follower = begin();
		this.simulation.time.runFor(Duration.ofSeconds(30));
		assertThat(leader).isNotDone();
		assertThat(catchThrowable(follower::get)).hasCauseInstanceOf(DeadlineExceededException.class);
	}

}
