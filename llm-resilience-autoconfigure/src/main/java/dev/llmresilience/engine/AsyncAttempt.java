package dev.llmresilience.engine;

import java.time.Duration;
import java.util.concurrent.CompletionException;

import dev.llmresilience.AttemptTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt under way. Its outcome is reported once; what comes after that, or after
 * its time is over, changes nothing. From the first element of a stream on the call waits
 * in another step for each element, so that whoever finds that it has been silent can end
 * just that silence.
 *
 * @param <T> the type of the result
 */
final class AsyncAttempt<T extends @Nullable Object> extends Steps.Step {

	private final AsyncCall<T> owner;

	private final Call call;

	private final long begun;

	private final long timeout;

	/** What the call waits in while nobody is at work: this until it delivers. */
	private volatile Steps.Step step = this;

	/** Stops the attempt itself. */
	private volatile Runnable canceller = Steps::nothing;

	private volatile boolean ended;

	private final Runnable leaver = this::leave;

	/**
	 * Creates an attempt.
	 * @param owner the invocation that it is made for
	 * @param call the call
	 * @param begun when it begins, on the monotonic clock
	 * @param timeout the time that it may take, in nanoseconds
	 */
	AsyncAttempt(AsyncCall<T> owner, Call call, long begun, long timeout) {
		owner.super();
		this.owner = owner;
		this.call = call;
		this.begun = begun;
		this.timeout = timeout;
		this.whenCancelled = () -> stop(call::goneInFlight);
	}

	Call call() {
		return this.call;
	}

	boolean isEnded() {
		return this.ended;
	}

	/** How to stop it, which is done at once if nobody waits for it any more. */
	void cancelBy(Runnable canceller) {
		this.canceller = canceller;
		if (this.ended) {
			canceller.run();
		}
	}

	private void stop(Runnable then) {
		ended();
		try {
			this.canceller.run();
		}
		finally {
			then.run();
		}
	}

	private void ended() {
		this.ended = true;
		this.owner.engine().landed(this.leaver);
	}

	/** Leaves it behind because of a shutdown. */
	private void leave() {
		if (claim()) {
			this.owner.execute(() -> stop(() -> {
				this.call.leftInFlight();
				this.owner.failed(this.call.refused(Refusals.shutdown(this.call.name())));
			}));
		}
	}

	/** Goes to work on the call, to deliver something of this attempt. */
	boolean claim() {
		return this.step.take();
	}

	private boolean claimToEnd() {
		if (!claim()) {
			return false;
		}
		ended();
		return true;
	}

	void succeeded(@Nullable T result) {
		if (!claimToEnd()) {
			return;
		}
		try {
			this.owner.engine().judge().check(result, this.call.entry());
		}
		catch (Throwable ex) {
			this.owner.decided(this.call.failed(ex));
			return;
		}
		this.owner.succeeded(this.call, result);
	}

	void failed(Throwable thrown) {
		if (claimToEnd()) {
			Throwable cause = (thrown instanceof CompletionException) ? thrown.getCause() : null;
			this.owner.decided(this.call.failed((cause != null) ? cause : thrown));
		}
	}

	/**
	 * Stops the attempt, for which it was {@linkplain #claim claimed}, and takes it for
	 * failed.
	 * @param thrown the failure
	 * @param breaks whether that breaks a stream which has delivered
	 */
	void stopWith(Throwable thrown, boolean breaks) {
		stop(breaks ? () -> broken(thrown) : () -> this.owner.decided(this.call.failed(thrown)));
	}

	/**
	 * The first element of a stream has come, for which it was {@linkplain #claim
	 * claimed}: from now on the attempt is not bounded by its time any more.
	 */
	void delivers() {
		this.call.guards().delivers();
		beginSilence();
	}

	/** The call is about to wait for another element. */
	void beginSilence() {
		this.step = new Silence();
	}

	/**
	 * Waits for what comes next of a stream, after it was {@linkplain #claim claimed}.
	 */
	void goesOn() {
		this.owner.enter(this.step);
	}

	/** What a stream that delivers waits in, until its next element comes. */
	Steps.Step silence() {
		return this.step;
	}

	/**
	 * A stream broke after its first element.
	 * @param thrown what it broke with
	 */
	void broke(Throwable thrown) {
		if (claimToEnd()) {
			broken(thrown);
		}
	}

	private void broken(Throwable thrown) {
		Throwable broken = this.call.broke(thrown);
		this.call.close();
		this.owner.end(() -> this.owner.fail(broken));
	}

	@Override
	void expire() {
		expire(this, this.owner.awaited(), this.timeout, false);
	}

	/**
	 * Gives up waiting.
	 * @param step what was waited in for too long
	 * @param awaited what did not come
	 * @param nanos within which time
	 * @param breaks whether that breaks a stream which has delivered
	 * @return whether nothing has come in the meantime
	 */
	boolean expire(Steps.Step step, String awaited, long nanos, boolean breaks) {
		if (!step.take()) {
			return false;
		}
		this.owner
			.execute(() -> stopWith(new AttemptTimeoutException(this.call.name(), awaited, Duration.ofNanos(nanos)),
					breaks));
		return true;
	}

	/** Watches its time, once it has begun and has not ended at once. */
	void watch() {
		if (this.owner.waitsIn(this)) {
			expireIn(this.begun + this.timeout - this.owner.engine().time().nanoTime());
		}
		if (!this.ended) {
			this.owner.engine().inFlight(this.leaver);
			if (this.ended) {
				this.owner.engine().landed(this.leaver);
			}
		}
	}

	/**
	 * Waiting for the next element. A stream that nobody wants any more is a success.
	 */
	private final class Silence extends Steps.Step {

		Silence() {
			AsyncAttempt.this.owner.super();
			this.whenCancelled = () -> AsyncAttempt.this.stop(() -> AsyncAttempt.this.call.succeeded(null));
		}

	}

}
