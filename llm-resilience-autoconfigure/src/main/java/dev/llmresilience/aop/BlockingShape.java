package dev.llmresilience.aop;

import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.SharedCalls;
import org.jspecify.annotations.Nullable;

/**
 * The calls of methods that return their result. Thread-safe.
 */
public final class BlockingShape implements CallShape {

	private final BlockingDriver driver;

	/**
	 * Creates the shape.
	 * @param driver makes the calls
	 */
	public BlockingShape(BlockingDriver driver) {
		this.driver = driver;
	}

	@Override
	public @Nullable Object call(CallPlan plan, @Nullable Object key, long tokens, Body<@Nullable Object> body,
			@Nullable Fallback<@Nullable Object> fallback) throws Throwable {
		return this.driver.call(plan, key, tokens, body, fallback);
	}

	@Override
	public @Nullable Object share(SharedCalls shared, Object method, CallPlan plan, Object value,
			Body<@Nullable Object> call) throws Throwable {
		return shared.call(method, plan, value, call);
	}

}
