package dev.llmresilience.engine;

import java.util.concurrent.CompletableFuture;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallView.Invocation;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls whose attempts return futures. No thread waits: neither for an answer, nor
 * for a slot of the limiter, nor before a retry. Thread-safe.
 */
public final class FutureDriver {

	private final CallEngine engine;

	/**
	 * Creates a driver.
	 * @param engine what its calls share with those of other drivers
	 */
	public FutureDriver(CallEngine engine) {
		this.engine = engine;
	}

	/**
	 * Makes a call. The first attempt begins on the calling thread if it need not wait.
	 * @param <T> the type of the result
	 * @param plan the provider entries that it is made under
	 * @param key the key whose guards it is under, or {@code null} for those of the entry
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param body begins one attempt; it may run several times
	 * @param fallback answers when the call has failed for good, or {@code null}
	 * @return completes with what an attempt, or else the fallback, completed with, or
	 * with what the last attempt failed with, the same object; cancelling or completing
	 * it cancels the attempt in flight, or ends the wait
	 */
	public <T extends @Nullable Object> CompletableFuture<T> call(CallPlan plan, @Nullable Object key, long tokens,
			Body<? extends @Nullable CompletionStage<T>> body,
			@Nullable Fallback<? extends @Nullable CompletionStage<T>> fallback) {
		FutureCall<T> call = new FutureCall<>(this.engine, plan, key, tokens, body, fallback);
		call.start();
		return call.result;
	}

	private static final class FutureCall<T extends @Nullable Object> extends AsyncCall<T> {

		private final Body<? extends @Nullable CompletionStage<T>> body;

		private final @Nullable Fallback<? extends @Nullable CompletionStage<T>> fallback;

		private final CompletableFuture<T> result = new CompletableFuture<>();

		FutureCall(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens,
				Body<? extends @Nullable CompletionStage<T>> body,
				@Nullable Fallback<? extends @Nullable CompletionStage<T>> fallback) {
			super(new Invocation(engine, plan, key, tokens));
			this.body = body;
			this.fallback = fallback;
			CompletableFuture<T> unused = this.result.whenComplete((value, thrown) -> cancel());
		}

		@Override
		void begin(AsyncAttempt<T> attempt) throws Throwable {
			CompletionStage<T> stage = notNull(this.body.run());
			attempt.cancelBy(() -> cancel(stage));
			stage.whenComplete((value, thrown) -> {
				if (thrown != null) {
					attempt.failed(thrown);
				}
				else {
					attempt.succeeded(value);
				}
			});
		}

		@Override
		void complete(@Nullable T value) {
			this.result.complete(value);
		}

		@Override
		void fail(Throwable failure) {
			this.result.completeExceptionally(failure);
		}

		@Override
		boolean hasFallback() {
			return this.fallback != null;
		}

		@Override
		void recover(Throwable failure) {
			try {
				CompletionStage<T> stage = notNull(Objects.requireNonNull(this.fallback).recover(failure));
				CompletableFuture<T> unused = this.result.whenComplete((value, thrown) -> cancel(stage));
				stage.whenComplete((value, thrown) -> {
					if (thrown != null) {
						this.result.completeExceptionally(thrown);
					}
					else {
						this.result.complete(value);
					}
				});
			}
			catch (Throwable ex) {
				this.result.completeExceptionally(ex);
			}
		}

		private static <T extends @Nullable Object> CompletionStage<T> notNull(@Nullable CompletionStage<T> stage) {
			if (stage == null) {
				throw new IllegalStateException("The method returned null instead of a future");
			}
			return stage;
		}

		/** Of a future that is complete already, this changes nothing. */
		private static void cancel(CompletionStage<?> stage) {
			try {
				stage.toCompletableFuture().cancel(true);
			}
			catch (UnsupportedOperationException ex) {
				// A stage that cannot be cancelled runs on unheard.
			}
		}

	}

}
