package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.Priority;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.time.ForwardingTime;
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

	/** The innermost has retried already, whoever made its call. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callsAroundThoseThatShareAFailureDoNotRetryIt(boolean future) {
		CallPlan plan = this.simulation.plan("p");
		CallEngine engine = this.simulation.engine();
		List<Object> around = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			if (future) {
				around.add(new FutureDriver(engine).call(plan, null, 0, () -> this.shared.callAsync(METHOD, plan,
						"equal", () -> new FutureDriver(engine).call(plan, null, 0, () -> {
							this.requests++;
							return CompletableFuture.failedFuture(status(500));
						}, null)), null));
			}
			else {
				around.add(this.simulation
					.start(() -> new BlockingDriver(engine).<Object>call(plan, null, 0, () -> this.shared.call(METHOD,
							plan, "equal", () -> new BlockingDriver(engine).<Object>call(plan, null, 0, () -> {
								this.requests++;
								throw status(500);
							}, null)), null)));
			}
		}
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(around).hasSize(2);
		assertThat(this.requests).isEqualTo(4);
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
		assertThat(follower.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
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
		assertThat(follower.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
		assertThat(follower.ended()).isEqualTo(Duration.ofSeconds(30));
	}

	@Test
	void aFollowerWaitsNoLongerThanTheDeadlineThatItIsUnder() {
		start("equal", null);
		CallPlan plan = this.simulation.plan("p");
		Caller<Object> follower = this.simulation.start(() -> this.simulation.resilience()
			.withDeadline(Duration.ofMillis(400), () -> shared(plan, "equal", () -> "own")));
		Caller<Object> within = this.simulation.start(() -> {
			CallOptions options = this.simulation.options("p");
			CallPlan half = CallPlan.of(plan.first().provider(),
					new CallOptions(options.policy().withTimeouts(Duration.ofMillis(500), Duration.ofMinutes(1)), 1,
							true, Priority.NORMAL, List.of(), List.of()));
			return new BlockingDriver(this.simulation.engine()).<Object>call(half, null, 0,
					() -> shared(plan, "equal", () -> "own"), null);
		});
		this.simulation.time.run();
		assertThat(follower.thrown()).isInstanceOf(DeadlineExceededException.class);
		assertThat(follower.ended()).isEqualTo(Duration.ofMillis(400));
		assertThat(within.ended()).isEqualTo(Duration.ofMillis(500));
	}

	private Object shared(CallPlan plan, Object value, BlockingDriver.Body<Object> call) throws Exception {
		try {
			return this.shared.call(METHOD, plan, value, call);
		}
		catch (Exception | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void whatAFollowerHasWaitedIsNotGivenToItAgainWhenItTakesOver() {
		CallPlan plan = this.simulation.plan("p");
		List<Duration> left = new ArrayList<>();
		BlockingDriver.Body<Object> call = () -> new BlockingDriver(this.simulation.engine()).call(plan, null, 0,
				() -> {
					left.add(Objects.requireNonNull(LlmCall.current()).timeLeft());
					this.simulation.time.sleep(Duration.ofSeconds(25));
					return "late";
				}, null);
		Caller<Object> leader = this.simulation.start(() -> this.shared.call(METHOD, plan, "equal", call));
		this.simulation.start(() -> this.shared.call(METHOD, plan, "equal", call));
		this.simulation.interruptAfter(Duration.ofSeconds(20), leader);
		this.simulation.time.run();
		assertThat(left).containsExactly(Duration.ofSeconds(30), Duration.ofSeconds(10));
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

	@Test
	void aFollowingFutureWaitsNoLongerThanTheDeadlineThatItIsUnder() throws Exception {
		CompletableFuture<Object> leader = begin();
		CompletableFuture<Object> follower = this.simulation.resilience()
			.withDeadline(Duration.ofSeconds(5), this::begin);
		this.simulation.time.runFor(Duration.ofSeconds(5));
		assertThat(leader).isNotDone();
		assertThat(follower).isDone();
		assertThat(catchThrowable(follower::get)).hasCauseInstanceOf(DeadlineExceededException.class);
	}

	@Test
	void aFutureThatTakesOverIsMadeInTheContextOfItsCaller() {
		ThreadLocal<String> user = new ThreadLocal<>();
		List<@Nullable Object> seen = new ArrayList<>();
		CallEngine engine = this.simulation.engineThatCarries(user);
		SharedCalls shared = new SharedCalls(engine);
		CallPlan plan = this.simulation.plan("p");
		CompletableFuture<Object> leader = shared.callAsync(METHOD, plan, "equal", CompletableFuture::new);
		this.simulation.time.runFor(Duration.ofSeconds(20));
		user.set("me");
		CompletableFuture<Object> around = new FutureDriver(engine).call(plan, null, 0, () -> {
			return shared.callAsync(METHOD, plan, "equal", () -> new FutureDriver(engine).call(plan, null, 0, () -> {
				LlmCall inner = Objects.requireNonNull(LlmCall.current());
				seen.add(user.get());
				seen.add(inner.timeLeft());
				inner.sideEffect();
				return CompletableFuture.failedFuture(status(500));
			}, null));
		}, null);
		user.remove();
		this.simulation.time.runFor(Duration.ofSeconds(10));
		leader.cancel(true);
		this.simulation.time.runFor(Duration.ofMillis(500));
		assertThat(around).as("nested, so not retried").isCompletedExceptionally();
		assertThat(seen).containsExactly("me", Duration.ofSeconds(20));
		assertThat(LlmCall.current()).isNull();
	}

	@Test
	void aRetriedCallWithinAnEqualOneDoesNotWaitForItself() {
		CallPlan plan = this.simulation.plan("p");
		int[] attempts = new int[1];
		CompletableFuture<Object> call = this.shared.callAsync(METHOD, plan, "equal",
				() -> new FutureDriver(this.simulation.engine()).call(plan, null, 0, () -> {
					if (++attempts[0] == 1) {
						return CompletableFuture.<Object>failedFuture(status(500));
					}
					return this.shared.callAsync(METHOD, plan, "equal",
							() -> CompletableFuture.completedFuture("inner"));
				}, null));
		this.simulation.time.runFor(Duration.ofSeconds(2));
		assertThat(call).isCompletedWithValue("inner");
	}

	/**
	 * Whoever comes just as the leader goes may be told that it leads before it has
	 * looked itself.
	 */
	@Test
	void aFutureThatComesAsTheLeaderGoesMakesOneCall() throws Exception {
		TasksLater time = new TasksLater();
		SharedCalls shared = new SharedCalls(new CallEngine(time, this.simulation.classifier));
		CallPlan plan = this.simulation.plan("p");
		AtomicInteger made = new AtomicInteger();
		SharedCalls.AsyncBody<Object> body = () -> {
			made.incrementAndGet();
			return new CompletableFuture<>();
		};
		ExecutorService other = Executors.newSingleThreadExecutor();
		try {
			for (int round = 0; round < 20_000; round++) {
				CompletableFuture<Object> leader = shared.callAsync(METHOD, plan, "equal", body);
				AtomicInteger ready = new AtomicInteger(2);
				List<CompletableFuture<Object>> followers = new ArrayList<>();
				Future<?> follower = other.submit(() -> {
					meet(ready);
					followers.add(shared.callAsync(METHOD, plan, "equal", body));
				});
				meet(ready);
				leader.cancel(true);
				follower.get();
				time.runTasks();
				assertThat(made.getAndSet(0)).isEqualTo(2);
				followers.forEach((one) -> one.cancel(true));
			}
		}
		finally {
			other.shutdownNow();
		}
	}

	private static void meet(AtomicInteger ready) {
		ready.decrementAndGet();
		while (ready.get() > 0) {
			Thread.onSpinWait();
		}
	}

	/** Runs tasks when it is told to. */
	private static final class TasksLater extends ForwardingTime {

		private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

		TasksLater() {
			super(new SettableTime());
		}

		void runTasks() {
			for (Runnable task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
				task.run();
			}
		}

		@Override
		public void execute(Runnable task) {
			this.tasks.add(task);
		}

	}

}
