package dev.llmresilience.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

import dev.llmresilience.LlmCallReport;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The ways to make a call, for tests of what must not differ between them. All of it is
 * in virtual time.
 */
enum Shape {

	BLOCKING {
		@Override
		Running start(Simulation simulation, CallPlan plan, Script script) {
			Caller<String> caller = simulation
				.start(() -> within(simulation, script.deadline, () -> new BlockingDriver(simulation.engine())
					.call(plan, null, 0, () -> script.next().await(simulation.time), null)));
			return new BlockingCall(simulation, caller);
		}
	},

	FUTURE {
		@Override
		Running start(Simulation simulation, CallPlan plan, Script script) {
			CompletableFuture<String> result = new FutureDriver(simulation.engine()).call(plan, null, 0,
					() -> script.next().future(simulation.time), null);
			return new FutureCall(simulation.time, result, () -> result.cancel(true));
		}
	},

	MONO {
		@Override
		Running start(Simulation simulation, CallPlan plan, Script script) {
			Mono<String> calls = new ReactiveDriver(simulation.engine()).mono(plan, null, 0,
					() -> Mono.fromFuture(script.next().future(simulation.time)), null);
			CompletableFuture<String> result = calls.toFuture();
			return new FutureCall(simulation.time, result, () -> result.cancel(true));
		}
	},

	FLUX {
		@Override
		Running start(Simulation simulation, CallPlan plan, Script script) {
			Flux<String> calls = new ReactiveDriver(simulation.engine()).flux(plan, null, 0,
					() -> Mono.fromFuture(script.next().future(simulation.time)), null);
			CompletableFuture<String> result = calls.single().toFuture();
			return new FutureCall(simulation.time, result, () -> result.cancel(true));
		}
	};

	/**
	 * Begins a call. What came of it is known when the simulated time has run.
	 * @param simulation whose entries it is made under
	 * @param plan how it is made
	 * @param script how its attempts go
	 * @return the call
	 */
	abstract Running start(Simulation simulation, CallPlan plan, Script script);

	Running start(Simulation simulation, String name, Script script) {
		CallPlan plan = simulation.plan(name);
		if (this == BLOCKING) {
			return start(simulation, plan, script);
		}
		try {
			return within(simulation, script.deadline, () -> start(simulation, plan, script));
		}
		catch (Throwable ex) {
			throw new AssertionError(ex);
		}
	}

	private static <T> T within(Simulation simulation, @Nullable Duration deadline, BlockingDriver.Body<T> body)
			throws Throwable {
		return (deadline != null) ? simulation.resilience().withDeadline(deadline, () -> {
			try {
				return body.run();
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new AssertionError(ex);
			}
		}) : body.run();
	}

	/** Begins a call and lets an hour pass, in which it has to end. */
	Running run(Simulation simulation, String name, Script script) {
		Running running = start(simulation, name, script);
		simulation.time.runFor(Duration.ofHours(1));
		return running;
	}

	/** A call under way, or what came of it. */
	abstract static class Running {

		@Nullable String result;

		@Nullable Throwable thrown;

		@Nullable Duration ended;

		/** The caller goes away, some time from now. */
		abstract void cancelAfter(Duration delay);

		/** Takes over what came of it. */
		abstract void look();

		boolean isOver() {
			look();
			return this.ended != null;
		}

		/** When it ended, as time since the start of the simulation. */
		Duration ended() {
			look();
			return Objects.requireNonNull(this.ended, "The call hangs");
		}

		String result() {
			ended();
			if (this.thrown != null) {
				throw new AssertionError("The call failed", this.thrown);
			}
			return Objects.requireNonNull(this.result);
		}

		Throwable thrown() {
			ended();
			return Objects.requireNonNull(this.thrown, "The call succeeded");
		}

		LlmCallReport report() {
			return Objects.requireNonNull(LlmCallReport.find(thrown()), "no report");
		}

	}

	private static final class BlockingCall extends Running {

		private final Simulation simulation;

		private final Caller<String> caller;

		BlockingCall(Simulation simulation, Caller<String> caller) {
			this.simulation = simulation;
			this.caller = caller;
		}

		@Override
		void cancelAfter(Duration delay) {
			this.simulation.interruptAfter(delay, this.caller);
		}

		@Override
		void look() {
			if (!this.caller.isOver()) {
				return;
			}
			this.ended = this.caller.ended();
			if (this.caller.failed()) {
				this.thrown = this.caller.thrown();
			}
			else {
				this.result = this.caller.result();
			}
		}

	}

	private static final class FutureCall extends Running {

		private final VirtualTime time;

		private final Runnable canceller;

		FutureCall(VirtualTime time, CompletableFuture<String> future, Runnable canceller) {
			this.time = time;
			this.canceller = canceller;
			future.whenComplete((value, failure) -> {
				this.result = value;
				this.thrown = failure;
				this.ended = time.elapsed();
			}).isDone();
		}

		@Override
		void cancelAfter(Duration delay) {
			this.time.schedule(delay.toNanos(), this.canceller);
		}

		@Override
		void look() {
			// Told already.
		}

	}

	/** How the attempts of a call go. */
	static final class Script {

		private final IntFunction<Answer> answers;

		private @Nullable Duration deadline;

		private int attempts;

		Script(IntFunction<Answer> answers) {
			this.answers = answers;
		}

		/** Whose attempts fail one after the other, until one succeeds. */
		static Script failing(Throwable... failures) {
			return new Script(
					(attempt) -> (attempt <= failures.length) ? Answer.of(failures[attempt - 1]) : Answer.AT_ONCE);
		}

		/** The call is made under a deadline that came in from outside. */
		Script within(Duration deadline) {
			this.deadline = deadline;
			return this;
		}

		Answer next() {
			this.attempts++;
			return this.answers.apply(this.attempts);
		}

		/** How many there were. */
		int attempts() {
			return this.attempts;
		}

	}

	/**
	 * What comes of an attempt.
	 *
	 * @param after when it comes
	 * @param failure what it fails with, or {@code null}
	 */
	record Answer(Duration after, @Nullable Throwable failure) {

		static final Answer AT_ONCE = new Answer(Duration.ZERO, null);

		static Answer of(Throwable failure) {
			return new Answer(Duration.ZERO, failure);
		}

		static Answer after(Duration duration) {
			return new Answer(duration, null);
		}

		String await(VirtualTime time) throws Throwable {
			if (!this.after.isZero()) {
				time.waiter().await(this.after.toNanos());
			}
			if (this.failure != null) {
				throw this.failure;
			}
			return "answer";
		}

		CompletableFuture<String> future(VirtualTime time) {
			CompletableFuture<String> future = new CompletableFuture<>();
			if (this.after.isZero()) {
				complete(future);
			}
			else {
				time.schedule(this.after.toNanos(), () -> complete(future));
			}
			return future;
		}

		private void complete(CompletableFuture<String> future) {
			if (this.failure != null) {
				future.completeExceptionally(this.failure);
			}
			else {
				future.complete("answer");
			}
		}

	}

}
