package dev.llmresilience.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.engine.Flight.Share;
import dev.llmresilience.engine.Flight.Share.State;
import dev.llmresilience.time.TimeSource.Timer;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * Lets equal calls that are under way share one: the first makes it, and the others wait
 * for what becomes of it. When the first goes away, or is refused on this side, which
 * says nothing to the others, the next makes it. Thread-safe.
 */
public final class SharedCalls {

	private final InFlight flights = new InFlight();

	private final CallEngine engine;

	/**
	 * Creates it.
	 * @param engine what the calls share with others
	 */
	public SharedCalls(CallEngine engine) {
		this.engine = engine;
	}

	/**
	 * Makes a call, or waits for an equal one.
	 * @param <T> the type of the result
	 * @param method whose call it is
	 * @param plan the provider entries that it is made under
	 * @param value equal for calls that can share; it needs {@code equals} and
	 * {@code hashCode}
	 * @param call makes the call
	 * @return its result, the same object for all
	 * @throws Throwable what it threw, the same object for all
	 */
	// Calls of one method return the same type.
	@SuppressWarnings({ "unchecked", "NullAway" })
	public <T extends @Nullable Object> T call(Object method, CallPlan plan, Object value, BlockingDriver.Body<T> call)
			throws Throwable {
		InFlight.Key key = key(method, plan, value);
		if (this.engine.isObserving() || Leading.includes(key)) {
			return call.run();
		}
		long start = this.engine.time().nanoTime();
		Waiter waiter = this.engine.time().waiter();
		Share share = this.flights.join(key, waiter::signal);
		if (share.isFirst()) {
			return lead(share, call);
		}
		plan.first().provider().monitor().deduplicated();
		long deadline = Call.deadline(start, plan.first().options());
		follow(share, waiter, plan, start, deadline - start);
		return switch (share.state()) {
			case SUCCEEDED -> (T) share.result();
			case FAILED -> throw failure(share, LlmCall.current());
			default -> takeOver(share, deadline, call);
		};
	}

	private void follow(Share share, Waiter waiter, CallPlan plan, long start, long nanos) {
		Runnable end = waiter::signal;
		this.engine.await(end);
		try {
			boolean told = !this.engine.isClosed() && waiter.await(nanos);
			if ((told && share.state() != State.FOLLOWING) || !share.leave()) {
				return;
			}
		}
		catch (InterruptedException ex) {
			share.leave();
			Thread.currentThread().interrupt();
			throw reported(new CancellationException("Interrupted while an equal call was under way"), plan,
					GiveUpReason.CANCELLED, start);
		}
		finally {
			this.engine.awaited(end);
		}
		throw left(plan, start);
	}

	/** Why one who waited does not any more. */
	private LlmCallRefusedException left(CallPlan plan, long start) {
		String provider = plan.first().provider().name();
		LlmCallRefusedException refusal = this.engine.isClosed() ? Refusals.shutdown(provider)
				: Refusals.deadline(provider);
		return reported(refusal, plan, refusal.reason(), start);
	}

	private <X extends Throwable> X reported(X thrown, CallPlan plan, GiveUpReason reason, long start) {
		Duration elapsed = Duration.ofNanos(this.engine.time().nanoTime() - start);
		LlmCallReport report = new LlmCallReport(plan.first().provider().name(), List.of(), reason, null, elapsed);
		thrown.addSuppressed(report);
		this.engine.listener().onCall(report);
		return thrown;
	}

	/** What a call has waited for another counts as its own time. */
	private static <T extends @Nullable Object> T takeOver(Share share, long deadline, BlockingDriver.Body<T> call)
			throws Throwable {
		Long before = Call.bound(deadline);
		try {
			return lead(share, call);
		}
		finally {
			Call.restoreBound(before);
		}
	}

	private static <T extends @Nullable Object> T lead(Share share, BlockingDriver.Body<T> call) throws Throwable {
		Leading before = Leading.begin(share.key());
		try {
			T result = call.run();
			share.succeeded(result);
			return result;
		}
		catch (Throwable ex) {
			ended(share, ex);
			throw ex;
		}
		finally {
			Leading.restore(before);
		}
	}

	/**
	 * Makes a call that returns a future, or waits for an equal one.
	 * @param <T> the type of the result
	 * @param method whose call it is
	 * @param plan the provider entries that it is made under
	 * @param value equal for calls that can share
	 * @param call makes the call
	 * @return completes like the call; cancelling it leaves the call to those who share
	 * it
	 */
	public <T extends @Nullable Object> CompletableFuture<T> callAsync(Object method, CallPlan plan, Object value,
			AsyncBody<T> call) {
		InFlight.Key key = key(method, plan, value);
		if (this.engine.isObserving() || Leading.includes(key)) {
			return call.run();
		}
		Following<T> following = new Following<>(plan, call);
		following.join(key);
		return following.result;
	}

	/**
	 * Makes a call that returns a future, or waits for an equal one, within a call that
	 * the calling thread need not know.
	 * @param <T> the type of the result
	 * @param method whose call it is
	 * @param plan the provider entries that it is made under
	 * @param value equal for calls that can share
	 * @param around the call that it is nested in, or {@code null}
	 * @param call makes the call
	 * @return completes like the call; cancelling it leaves the call to those who share
	 * it
	 */
	public <T extends @Nullable Object> CompletableFuture<T> callAsync(Object method, CallPlan plan, Object value,
			@Nullable LlmCall around, AsyncBody<T> call) {
		LlmCall before = LlmCall.current();
		Call.restore(around);
		try {
			return callAsync(method, plan, value, call);
		}
		finally {
			Call.restore(before);
		}
	}

	private static InFlight.Key key(Object method, CallPlan plan, Object value) {
		return new InFlight.Key(method, plan.first().provider().name(), value);
	}

	private static Throwable failure(Share share, @Nullable LlmCall outer) {
		Throwable failure = share.failure();
		if (failure == null) {
			return new IllegalStateException("Failed without a failure");
		}
		Call.shareFailure(outer, failure);
		return failure;
	}

	private static void ended(Share share, Throwable thrown) {
		if (isOwn(thrown)) {
			share.leave();
		}
		else {
			share.failed(thrown);
		}
	}

	/** Whether a call ended in a way that says nothing to others. */
	private static boolean isOwn(Throwable thrown) {
		if (thrown instanceof LlmCallRefusedException || thrown instanceof CancellationException
				|| thrown instanceof InterruptedException) {
			return true;
		}
		LlmCallReport report = LlmCallReport.find(thrown);
		GiveUpReason reason = (report != null) ? report.reason() : null;
		return reason == GiveUpReason.CANCELLED || reason == GiveUpReason.SHUTDOWN || reason == GiveUpReason.DEADLINE;
	}

	/**
	 * Begins a call.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface AsyncBody<T extends @Nullable Object> {

		/**
		 * Begins the call.
		 * @return its future
		 */
		CompletableFuture<T> run();

	}

	/** One who shares a call without a thread. */
	private final class Following<T extends @Nullable Object> {

		private final CallPlan plan;

		private final AsyncBody<T> call;

		private final CompletableFuture<T> result = new CompletableFuture<>();

		private final AtomicReference<@Nullable Share> share = new AtomicReference<>();

		/** The context of the caller, in which the call goes on if it takes over. */
		private final UnaryOperator<Runnable> context;

		private final @Nullable LlmCall outer = LlmCall.current();

		private final long start;

		private final long deadline;

		private volatile @Nullable Timer timer;

		Following(CallPlan plan, AsyncBody<T> call) {
			this.plan = plan;
			this.call = call;
			this.context = engine().context().capture();
			this.start = engine().time().nanoTime();
			this.deadline = Call.deadline(this.start, plan.first().options());
		}

		private CallEngine engine() {
			return SharedCalls.this.engine;
		}

		private void execute(Runnable task) {
			engine().time().execute(this.context.apply(task));
		}

		void join(InFlight.Key key) {
			Share share = SharedCalls.this.flights.join(key, () -> execute(this::told));
			this.share.set(share);
			Runnable end = () -> execute(() -> leave(share));
			CompletableFuture<?> unused = this.result.whenComplete((value, thrown) -> {
				share.leave();
				engine().awaited(end);
				Timer timer = this.timer;
				if (timer != null) {
					timer.cancel();
				}
			});
			if (share.isFirst()) {
				lead(share);
				return;
			}
			this.plan.first().provider().monitor().deduplicated();
			Timer timer = engine().time().schedule(this.deadline - this.start, () -> execute(() -> leave(share)));
			this.timer = timer;
			engine().await(end);
			if (engine().isClosed()) {
				leave(share);
			}
			if (this.result.isDone()) {
				timer.cancel();
				engine().awaited(end);
			}
		}

		/** Ends the wait. Who leads ends with the call itself. */
		private void leave(Share share) {
			if (share.state() == State.FOLLOWING && share.leave()) {
				this.result.completeExceptionally(left(this.plan, this.start));
			}
		}

		@SuppressWarnings({ "unchecked", "NullAway" }) // Calls of one method return the
														// same type.
		private void told() {
			Share share = this.share.get();
			if (share == null) {
				// Told before it was known here: once more.
				execute(this::told);
				return;
			}
			switch (share.state()) {
				case SUCCEEDED -> this.result.complete((T) share.result());
				case FAILED -> this.result.completeExceptionally(failure(share, this.outer));
				case LEADING -> takeOver(share);
				case FOLLOWING, LEFT -> {
				}
			}
		}

		private void takeOver(Share share) {
			LlmCall before = LlmCall.current();
			Long bound = Call.bound(this.deadline);
			Call.restore(this.outer);
			try {
				lead(share);
			}
			finally {
				Call.restore(before);
				Call.restoreBound(bound);
			}
		}

		private void lead(Share share) {
			Leading before = Leading.begin(share.key());
			try {
				CompletableFuture<T> call = this.call.run();
				CompletableFuture<?> unused = call.whenComplete((value, thrown) -> end(share, value, thrown));
				unused = this.result.whenComplete((value, thrown) -> call.cancel(true));
			}
			finally {
				Leading.restore(before);
			}
		}

		private void end(Share share, T value, @Nullable Throwable thrown) {
			if (thrown == null) {
				share.succeeded(value);
				this.result.complete(value);
				return;
			}
			Throwable cause = (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause()
					: thrown;
			ended(share, cause);
			this.result.completeExceptionally(cause);
		}

	}

}
