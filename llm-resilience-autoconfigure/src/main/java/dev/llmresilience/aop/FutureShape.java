package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.FutureDriver;
import dev.llmresilience.engine.SharedCalls;
import org.jspecify.annotations.Nullable;

/**
 * The calls of methods that return a future. Thread-safe.
 */
public final class FutureShape implements CallShape, CallShape.Factory {

	private final FutureDriver driver;

	/**
	 * Creates the shape.
	 * @param driver makes the calls
	 */
	public FutureShape(FutureDriver driver) {
		this.driver = driver;
	}

	@Override
	public @Nullable CallShape of(Method method) {
		Class<?> returnType = method.getReturnType();
		return (returnType == CompletableFuture.class || returnType == CompletionStage.class) ? this : null;
	}

	@Override
	public CompletableFuture<@Nullable Object> call(CallPlan plan, @Nullable Object key, long tokens,
			Body<@Nullable Object> body, @Nullable Fallback<@Nullable Object> fallback) {
		return this.driver.call(plan, key, tokens, () -> stage(body.run()), answer(fallback));
	}

	@Override
	public CompletableFuture<Object> share(SharedCalls shared, Object method, CallPlan plan, Object value,
			Body<@Nullable Object> call) {
		return shared.callAsync(method, plan, value, () -> begin(call));
	}

	@SuppressWarnings("unchecked")
	private static CompletableFuture<Object> begin(Body<@Nullable Object> call) {
		try {
			return (CompletableFuture<Object>) Objects.requireNonNull(call.run());
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static @Nullable Fallback<@Nullable CompletionStage<@Nullable Object>> answer(
			@Nullable Fallback<@Nullable Object> fallback) {
		if (fallback == null) {
			return null;
		}
		return (failure) -> stage(fallback.recover(failure));
	}

	@SuppressWarnings("unchecked")
	private static @Nullable CompletionStage<@Nullable Object> stage(@Nullable Object returned) {
		return (CompletionStage<@Nullable Object>) returned;
	}

}
