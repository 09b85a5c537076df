package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;

/**
 * An engine in virtual time with entries that tests set up, and the calls that they make
 * through it. Waits before retries are exact: 1 s, 2 s, 4 s.
 */
final class Simulation implements AutoCloseable {

	/** Backoff without chance, so that tests can name the moments. */
	static final RetryPolicy EXACT = RetryPolicy.DEFAULTS
		.withBackoff(Jitter.NONE, Duration.ofSeconds(1), Duration.ofSeconds(30))
		.withRetryAfter(Duration.ZERO, Duration.ofMinutes(2));

	static final LimiterSettings ONE_PER_SECOND = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
		.withRate(60.0, 1);

	final VirtualTime time = new VirtualTime(1);

	final List<ProviderSettings> settings = new ArrayList<>();

	/** How the calls of entries that are added from now on are made. */
	CallSettings calls = CallSettings.DEFAULTS;

	GuardListener listener = GuardListener.NONE;

	/** Whether calls are only observed. */
	boolean observing;

	/** What is counted of the calls of all entries. */
	CallMonitor monitor = CallMonitor.NONE;

	/** What the engine has reported. */
	final List<LlmCallReport> reports = new ArrayList<>();

	FailureClassifier classifier = SimulatedProvider.classifier(true);

	private @Nullable Providers providers;

	private @Nullable CallEngine engine;

	/** Adds an entry with an exact policy, a budget and a breaker, but no limiter. */
	Simulation with(String name) {
		return with(name, EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), BudgetSettings.DEFAULTS,
				BreakerSettings.DEFAULTS);
	}

	Simulation with(String name, RetryPolicy policy, LimiterSettings limiter, @Nullable BudgetSettings budget,
			@Nullable BreakerSettings breaker) {
		ProviderSettings defaults = ProviderSettings.defaults(name);
		this.settings.add(new ProviderSettings(name, defaults.type(), "account", List.of(), policy, this.calls, limiter,
				null, budget, breaker, defaults.quotaCoolDown()));
		return this;
	}

	static BreakerSettings threshold(int failures) {
		BreakerSettings defaults = BreakerSettings.DEFAULTS;
		return new BreakerSettings(failures, null, defaults.windowSize(), null, defaults.openDuration(),
				defaults.maxOpenDuration(), defaults.trialTimeout());
	}

	Providers providers() {
		Providers providers = this.providers;
		if (providers == null) {
			providers = new Providers(this.settings, Providers.DEFAULT_MAX_KEYS, this.time, this.listener,
					(provider) -> this.monitor);
			this.providers = providers;
		}
		return providers;
	}

	CallEngine engine() {
		CallEngine engine = this.engine;
		if (engine == null) {
			engine = CallEngine.builder(this.time, this.classifier)
				.listener(this.reports::add)
				.observing(this.observing)
				.build();
			this.engine = engine;
		}
		return engine;
	}

	CircuitBreaker breaker(String name) {
		return Objects.requireNonNull(providers().get(name).breaker());
	}

	RetryBudget budget(String name) {
		return Objects.requireNonNull(providers().get(name).budget());
	}

	/** Opens the breaker of an entry whose threshold is 1. */
	void open(String name) {
		CircuitBreaker.Permit permit = Objects.requireNonNull(breaker(name).tryAcquire());
		permit.failure(FailureKind.SERVER_ERROR, 500, 0);
	}

	/** Opens the breaker of an entry and lets its open time pass. */
	void openUntilTrial(String name) {
		open(name);
		this.time.runFor(Duration.ofSeconds(33));
	}

	<T> T call(String name, BlockingDriver.Body<T> body) throws Throwable {
		return call(name, options(name), body, null);
	}

	<T> T call(String name, CallOptions options, BlockingDriver.Body<T> body,
			BlockingDriver.@Nullable Fallback<T> fallback) throws Throwable {
		return new BlockingDriver(engine()).call(providers().get(name), options, body, fallback);
	}

	/** A call that another entry takes over from when it fails for good. */
	CallPlan plan(String name, String... failover) {
		List<CallPlan.Target> targets = new ArrayList<>();
		for (String other : failover) {
			targets.add(new CallPlan.Target(providers().get(other), options(other), null));
		}
		return new CallPlan("the method", new CallPlan.Target(providers().get(name), options(name), null), targets);
	}

	<T> CompletableFuture<T> future(String name, BlockingDriver.Body<? extends @Nullable CompletionStage<T>> body) {
		return new FutureDriver(engine()).call(plan(name), null, 0, body, null);
	}

	/** An engine that carries what a thread knows to those who run tasks for it. */
	CallEngine engineThatCarries(ThreadLocal<String> context) {
		return CallEngine.builder(this.time, this.classifier).context(() -> {
			String captured = context.get();
			return (task) -> () -> {
				context.set(captured);
				task.run();
				context.remove();
			};
		}).build();
	}

	LlmResilience resilience() {
		return new DefaultLlmResilience(providers(), new BlockingDriver(engine()), new FutureDriver(engine()),
				this.time);
	}

	CallOptions options(String name) {
		return providers().get(name).options();
	}

	/** Starts a caller whose end is told by what is returned, once the time has run. */
	<T> Caller<T> start(String name, BlockingDriver.Body<T> body) {
		return start(() -> call(name, body));
	}

	<T> Caller<T> start(BlockingDriver.Body<T> body) {
		return startAfter(Duration.ZERO, body);
	}

	<T> Caller<T> startAfter(Duration delay, BlockingDriver.Body<T> body) {
		Caller<T> caller = new Caller<>();
		caller.thread = this.time.startAfter(delay, () -> caller.run(body, this.time));
		return caller;
	}

	/** Starts a caller and lets the time run until it ends. */
	<T> Caller<T> run(String name, BlockingDriver.Body<T> body) {
		return finish(start(name, body));
	}

	<T> Caller<T> run(BlockingDriver.Body<T> body) {
		return finish(start(body));
	}

	private <T> Caller<T> finish(Caller<T> caller) {
		this.time.run();
		if (this.time.active() > 0) {
			throw new IllegalStateException("A caller hangs");
		}
		return caller;
	}

	void interruptAfter(Duration delay, Caller<?> caller) {
		Thread thread = Objects.requireNonNull(caller.thread);
		this.time.schedule(delay.toNanos(), () -> this.time.interrupt(thread));
	}

	static StatusException status(int status) {
		return new StatusException(status, null);
	}

	@Override
	public void close() {
		this.time.close();
	}

	/**
	 * A simulated caller, and what came of its call.
	 *
	 * @param <T> the type of the result
	 */
	static final class Caller<T> {

		@Nullable Thread thread;

		private @Nullable T result;

		private @Nullable Throwable thrown;

		private boolean interrupted;

		private Duration ended = Duration.ZERO;

		private boolean over;

		void run(BlockingDriver.Body<T> body, VirtualTime time) {
			try {
				this.result = body.run();
			}
			catch (Throwable ex) {
				this.thrown = ex;
			}
			this.interrupted = Thread.currentThread().isInterrupted();
			this.ended = time.elapsed();
			this.over = true;
		}

		boolean isOver() {
			return this.over;
		}

		boolean failed() {
			return this.thrown != null;
		}

		T result() {
			if (this.thrown != null) {
				throw new AssertionError("The call failed", this.thrown);
			}
			return Objects.requireNonNull(this.result);
		}

		Throwable thrown() {
			return Objects.requireNonNull(this.thrown, "The call succeeded");
		}

		LlmCallReport report() {
			return Objects.requireNonNull(LlmCallReport.find(thrown()), "no report");
		}

		boolean interrupted() {
			return this.interrupted;
		}

		/** When the call ended, as time since the start of the simulation. */
		Duration ended() {
			return this.ended;
		}

	}

	/**
	 * A body that fails in the given ways, one after the other, and then succeeds.
	 */
	static final class Script implements BlockingDriver.Body<String> {

		private final List<Throwable> failures;

		private int attempts;

		Script(Throwable... failures) {
			this.failures = List.of(failures);
		}

		@Override
		public String run() throws Throwable {
			int attempt = this.attempts++;
			if (attempt < this.failures.size()) {
				throw this.failures.get(attempt);
			}
			return "answer";
		}

		int attempts() {
			return this.attempts;
		}

	}

	/** A body that always fails with a new exception of a status. */
	static final class Failing implements BlockingDriver.Body<String> {

		private final int status;

		private int attempts;

		Failing(int status) {
			this.status = status;
		}

		@Override
		public String run() {
			this.attempts++;
			throw status(this.status);
		}

		int attempts() {
			return this.attempts;
		}

	}

}
