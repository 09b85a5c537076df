package dev.llmresilience.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.engine.Flight.Share;
import dev.llmresilience.engine.Flight.Share.State;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * Lets equal calls that are under way share one: the first makes it, and the others wait
 * for what becomes of it. When the first goes away, or is refused on this side, which
 * says nothing to the others, the next makes it. Thread-safe.
 */
public final class SharedCalls {

	/** What the calling thread makes for all, so that it never waits for itself. */
	private static final ThreadLocal<Deque<InFlight.Key>> leading = ThreadLocal.withInitial(ArrayDeque::new);

	private final InFlight flights = new InFlight();

	private final CallEngine engine;

	private final TimeSource time;

	/**
	 * Creates it.
	 * @param engine time, and the waits that a shutdown ends
	 */
	public SharedCalls(CallEngine engine) {
		this.engine = engine;
		this.time = engine.time();
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
	@SuppressWarnings({ "unchecked", "NullAway" }) // Calls of one method return the same
													// type.
	public <T extends @Nullable Object> T call(Object method, CallPlan plan, Object value, BlockingDriver.Body<T> call)
			throws Throwable {
		InFlight.Key key = key(method, plan, value);
		if (leading.get().contains(key)) {
			return call.run();
		}
		Waiter waiter = this.time.waiter();
		Share share = this.flights.join(key, waiter::signal);
		if (share.state() == State.FOLLOWING) {
			follow(share, waiter, plan);
		}
		return switch (share.state()) {
			case SUCCEEDED -> (T) share.result();
			case FAILED -> throw failure(share);
			default -> lead(share, call);
		};
	}

	private void follow(Share share, Waiter waiter, CallPlan plan) {
		Runnable end = waiter::signal;
		this.engine.await(end);
		try {
			boolean told = !this.engine.isClosed() && waiter.await(plan.first().options().timeoutNanos());
			if ((told && share.state() != State.FOLLOWING) || !share.leave()) {
				return;
			}
		}
		catch (InterruptedException ex) {
			share.leave();
			Thread.currentThread().interrupt();
			throw new CancellationException("Interrupted while an equal call was under way");
		}
		finally {
			this.engine.awaited(end);
		}
		throw left(plan);
	}

	/** Why one who waited does not any more. */
	private LlmCallRefusedException left(CallPlan plan) {
		String provider = plan.first().provider().name();
		return this.engine.isClosed() ? Refusals.shutdown(provider) : Refusals.deadline(provider);
	}

	private static <T extends @Nullable Object> T lead(Share share, BlockingDriver.Body<T> call) throws Throwable {
		Deque<InFlight.Key> keys = leading.get();
		keys.push(share.key());
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
			keys.pop();
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
		if (leading.get().contains(key)) {
			return call.run();
		}
		Following<T> following = new Following<>(plan, call);
		following.join(key);
		return following.result;
	}

	private static InFlight.Key key(Object method, CallPlan plan, Object value) {
		return new InFlight.Key(method, plan.first().provider().name(), value);
	}

	private static Throwable failure(Share share) {
		Throwable failure = share.failure();
		return (failure != null) ? failure : new IllegalStateException("Failed without a failure");
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

		private volatile @Nullable Timer timer;

		Following(CallPlan plan, AsyncBody<T> call) {
			this.plan = plan;
			this.call = call;
		}

		void join(InFlight.Key key) {
			Share share = SharedCalls.this.flights.join(key, () -> SharedCalls.this.time.execute(this::told));
			this.share.set(share);
			Runnable end = () -> SharedCalls.this.time.execute(() -> leave(share));
			CompletableFuture<?> unused = this.result.whenComplete((value, thrown) -> {
				share.leave();
				SharedCalls.this.engine.awaited(end);
				Timer timer = this.timer;
				if (timer != null) {
					timer.cancel();
				}
			});
			if (share.state() == State.LEADING) {
				lead(share);
				return;
			}
			this.timer = SharedCalls.this.time.schedule(this.plan.first().options().timeoutNanos(),
					() -> this.result.completeExceptionally(left(this.plan)));
			SharedCalls.this.engine.await(end);
			if (SharedCalls.this.engine.isClosed()) {
				leave(share);
			}
			if (this.result.isDone()) {
				share.leave();
				SharedCalls.this.engine.awaited(end);
			}
		}

		/** Ends the wait at a shutdown. Who leads ends with the call itself. */
		private void leave(Share share) {
			if (share.state() == State.FOLLOWING) {
				this.result.completeExceptionally(left(this.plan));
			}
		}

		@SuppressWarnings({ "unchecked", "NullAway" }) // Calls of one method return the
														// same type.
		private void told() {
			Share share = this.share.get();
			if (share == null) {
				// Told before it was known here: once more.
				SharedCalls.this.time.execute(this::told);
				return;
			}
			switch (share.state()) {
				case SUCCEEDED -> this.result.complete((T) share.result());
				case FAILED -> this.result.completeExceptionally(failure(share));
				case LEADING -> lead(share);
				case FOLLOWING, LEFT -> {
				}
			}
		}

		private void lead(Share share) {
			Deque<InFlight.Key> keys = leading.get();
			keys.push(share.key());
			try {
				CompletableFuture<T> call = this.call.run();
				CompletableFuture<?> unused = call.whenComplete((value, thrown) -> end(share, value, thrown));
				unused = this.result.whenComplete((value, thrown) -> call.cancel(true));
			}
			finally {
				keys.pop();
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
