package dev.llmresilience.engine;

import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.Verdict;
import dev.llmresilience.LlmResultException;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.failure.FailureContext;
import dev.llmresilience.failure.ResultClassifiers;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Judges what attempts throw and return: what the classifiers say, with what only the
 * engine knows, and the caller's own word. Thread-safe.
 */
final class FailureJudge {

	private static final int MAX_DEPTH = 32;

	private final TimeSource time;

	private final FailureClassifier classifier;

	private final ResultClassifiers results;

	FailureJudge(TimeSource time, FailureClassifier classifier, ResultClassifiers results) {
		this.time = time;
		this.classifier = classifier;
		this.results = results;
	}

	/**
	 * Judges a failure. An attempt that we interrupted because its time was over timed
	 * out, whatever that interrupt made of it; the caller's word beats the rules.
	 */
	LlmFailure judge(Throwable thrown, boolean expired, boolean here, Provider provider, CallOptions options) {
		LlmFailure failure = expired ? LlmFailure.of(FailureKind.TIMEOUT) : classify(thrown, here, provider);
		if (isAny(thrown, options.noRetryOn())) {
			return failure.withVerdict(Verdict.NO_RETRY);
		}
		return isAny(thrown, options.retryOn()) ? failure.withVerdict(Verdict.RETRY) : failure;
	}

	/**
	 * Makes an exception of a result that is a failure, so that from here on there is one
	 * way only.
	 */
	void check(@Nullable Object result, Provider provider) {
		if (result == null || !this.results.knows(result)) {
			return;
		}
		LlmFailure failure = this.results.classify(result, context(provider, true));
		if (failure != null) {
			throw new LlmResultException(failure);
		}
	}

	/** Only the flag of the caller's own thread means that the caller went away. */
	private FailureContext context(Provider provider, boolean here) {
		return new FailureContext(provider.settings().type(), this.time.now(),
				here && Thread.currentThread().isInterrupted());
	}

	private LlmFailure classify(Throwable thrown, boolean here, Provider provider) {
		if (thrown instanceof LlmResultException result) {
			return result.failure();
		}
		if (thrown instanceof AttemptTimeoutException) {
			return LlmFailure.of(FailureKind.TIMEOUT);
		}
		LlmFailure failure = null;
		try {
			failure = this.classifier.classify(thrown, context(provider, here));
		}
		catch (RuntimeException ex) {
			// The failure of the call matters more than that of its judge.
			if (ex != thrown) {
				thrown.addSuppressed(ex);
			}
		}
		return (failure != null) ? failure : LlmFailure.of(FailureKind.APPLICATION);
	}

	/**
	 * Whether a failure hides that the calling thread was interrupted: something wrapped
	 * the exception that had cleared the interrupt flag. What a future wraps happened on
	 * another thread.
	 */
	static boolean hidesInterrupt(Throwable thrown) {
		Throwable t = thrown;
		for (int depth = 0; t != null && depth < MAX_DEPTH; depth++) {
			if (t instanceof ExecutionException || t instanceof CompletionException) {
				return false;
			}
			if (t instanceof InterruptedException) {
				return t != thrown;
			}
			t = t.getCause();
		}
		return false;
	}

	private static boolean isAny(Throwable thrown, List<Class<? extends Throwable>> types) {
		if (types.isEmpty()) {
			return false;
		}
		Throwable t = thrown;
		for (int depth = 0; t != null && depth < MAX_DEPTH; depth++) {
			for (Class<? extends Throwable> type : types) {
				if (type.isInstance(t)) {
					return true;
				}
			}
			t = t.getCause();
		}
		return false;
	}

}
