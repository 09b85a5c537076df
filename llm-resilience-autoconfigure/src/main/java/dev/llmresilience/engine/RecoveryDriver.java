package dev.llmresilience.engine;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.Recovery;
import dev.llmresilience.Recovery.Retry;
import dev.llmresilience.Recovery.Skip;
import dev.llmresilience.RecoveryStrategy;
import dev.llmresilience.RecoveryStrategy.FailedRun;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.engine.BlockingDriver.Body;
import org.jspecify.annotations.Nullable;

/**
 * Runs a method whose repeat may do harm: what happens after a failure is up to a
 * {@link RecoveryStrategy}, within limits. Touches no guard of any provider, and no
 * protected call around it. Thread-safe.
 */
public final class RecoveryDriver {

	private static final int MAX_RUNS = 6;

	/** Doubled from run to run, and so 1.6 seconds at most. */
	private static final long BASE_DELAY = Duration.ofMillis(100).toNanos();

	private static final Duration MAX_HINT = Duration.ofSeconds(30);

	private final CallEngine engine;

	private final Provider provider;

	private final CallOptions options;

	private final Method method;

	private final String name;

	private final RecoveryStrategy strategy;

	/**
	 * Creates a driver for one method.
	 * @param engine time, the judge of failures, and the waits that a shutdown ends
	 * @param provider whose rules judge failures
	 * @param options what the method itself asks for; of these the number of attempts
	 * counts
	 * @param method the method
	 * @param name what the strategy is called
	 * @param strategy decides
	 */
	public RecoveryDriver(CallEngine engine, Provider provider, CallOptions options, Method method, String name,
			RecoveryStrategy strategy) {
		this.engine = engine;
		this.provider = provider;
		this.options = options;
		this.method = method;
		this.name = name;
		this.strategy = strategy;
	}

	/**
	 * Runs the method, on the caller's own thread, which also does the waiting.
	 * @param arguments its arguments, for the strategy
	 * @param body one run; it may be made several times
	 * @return what the method returned, or what the strategy goes on with
	 * @throws Throwable what the last run threw, the same object, or an
	 * {@link IllegalStateException} if the strategy goes on with a value that the method
	 * cannot return, or a {@link ShutdownException} that a shutdown ended the wait with
	 */
	public @Nullable Object call(@Nullable Object[] arguments, Body<@Nullable Object> body) throws Throwable {
		if (this.engine.isObserving()) {
			return body.run();
		}
		for (int runs = 1;; runs++) {
			Throwable thrown;
			try {
				return body.run();
			}
			catch (Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				thrown = ex;
			}
			LlmFailure failure = judge(thrown);
			if (failure == null) {
				throw thrown;
			}
			Recovery recovery = ask(new FailedRun(thrown, failure, this.method, Arrays.asList(arguments), runs));
			if (recovery instanceof Skip skip) {
				return value(skip, thrown);
			}
			if (!(recovery instanceof Retry) || !mayRunAgain(thrown, failure, runs) || !pause(failure, runs)) {
				throw thrown;
			}
			if (this.engine.isClosed()) {
				throw new ShutdownException(this.provider.name(), thrown);
			}
		}
	}

	/**
	 * Judges a failure.
	 * @return the failure, or {@code null} if nobody is there to recover for, or the
	 * judge itself broke
	 */
	private @Nullable LlmFailure judge(Throwable thrown) {
		try {
			LlmFailure failure = this.engine.judge().judge(thrown, false, true, this.provider, this.options);
			if (failure.kind() != FailureKind.CANCELLED) {
				return failure;
			}
			if (FailureJudge.hidesInterrupt(thrown)) {
				Thread.currentThread().interrupt();
			}
		}
		catch (RuntimeException | Error ex) {
			suppress(thrown, ex);
		}
		return null;
	}

	private Recovery ask(FailedRun run) {
		try {
			return Objects.requireNonNull(this.strategy.recover(run), () -> this.name + " gave no answer");
		}
		catch (Throwable ex) {
			suppress(run.thrown(), ex);
			return Recovery.fail();
		}
	}

	private static void suppress(Throwable thrown, Throwable ex) {
		if (ex != thrown) {
			thrown.addSuppressed(ex);
		}
	}

	private @Nullable Object value(Skip skip, Throwable thrown) {
		Object value = skip.value();
		Class<?> type = this.method.getReturnType();
		boolean fits = (value != null) ? MethodType.methodType(type).wrap().returnType().isInstance(value)
				: !type.isPrimitive() || type == void.class;
		if (!fits) {
			throw new IllegalStateException("The RecoveryStrategy '" + this.name + "' skips "
					+ this.method.getDeclaringClass().getName() + "." + this.method.getName() + " with "
					+ ((value != null) ? "a " + value.getClass().getName() : "null") + ", but the method returns "
					+ type.getName(), thrown);
		}
		return value;
	}

	private boolean mayRunAgain(Throwable thrown, LlmFailure failure, int runs) {
		Duration hint = failure.hint();
		return this.provider.areRetriesOn() && runs < Math.min(MAX_RUNS, this.options.maxAttempts())
				&& LlmCallReport.find(thrown) == null && (hint == null || hint.compareTo(MAX_HINT) <= 0);
	}

	/**
	 * Waits before a further run.
	 * @return whether there is still somebody to make it for
	 */
	private boolean pause(LlmFailure failure, int runs) {
		Duration hint = failure.hint();
		long ceiling = BASE_DELAY << (runs - 1);
		long backoff = (long) (ceiling * this.engine.time().random());
		try {
			this.engine.pause((hint != null) ? Math.max(backoff, hint.toNanos()) : backoff);
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
