package dev.llmresilience.failure;

import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.failure.FailureFacts.Hearsay;
import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Judges whatever a call threw. Unlike other classifiers it always has an answer.
 * <p>
 * It walks the cause chain from the outside in: a cancelled caller beats everything; then
 * the classifiers it was given are asked; then the first exception that carries an HTTP
 * status decides, or else the most telling one about the connection, or else what a
 * library says that an answer was which it lost. What nobody knows is the caller's own
 * exception.
 * <p>
 * Thread-safe.
 */
public final class DefaultFailureClassifier implements FailureClassifier {

	private static final Log logger = LogFactory.getLog(DefaultFailureClassifier.class);

	private static final int MAX_CAUSES = 50;

	private final List<FailureClassifier> first;

	private final List<FailureReader> readers;

	/**
	 * Creates a classifier of its own mind only.
	 */
	public DefaultFailureClassifier() {
		this(List.of());
	}

	/**
	 * Creates a classifier that asks others first.
	 * @param first the others, asked in this order until one has an answer
	 */
	public DefaultFailureClassifier(List<? extends FailureClassifier> first) {
		this.first = List.copyOf(first);
		this.readers = FailureReaders.present(DefaultFailureClassifier.class.getClassLoader());
	}

	@Override
	public LlmFailure classify(Throwable thrown, FailureContext context) {
		try {
			List<Throwable> chain = chain(thrown);
			if (context.interrupted() || isCancelled(chain)) {
				return LlmFailure.of(FailureKind.CANCELLED);
			}
			LlmFailure failure = askFirst(thrown, context);
			return (failure != null) ? failure : judge(chain, context);
		}
		catch (RuntimeException ex) {
			// Reading calls methods of foreign exceptions. A failure that cannot be
			// read must reach the caller all the same.
			return LlmFailure.of(FailureKind.APPLICATION);
		}
	}

	private static List<Throwable> chain(Throwable thrown) {
		List<Throwable> chain = new ArrayList<>();
		Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		Throwable next = thrown;
		while (next != null && chain.size() < MAX_CAUSES && seen.add(next)) {
			chain.add(next);
			next = next.getCause();
		}
		return chain;
	}

	private static boolean isCancelled(List<Throwable> chain) {
		boolean timedOut = false;
		for (Throwable thrown : chain) {
			if (thrown instanceof InterruptedException || thrown instanceof ClosedByInterruptException) {
				return true;
			}
			if (thrown instanceof CancellationException) {
				// A client that gives up waiting cancels its own exchange.
				return !timedOut;
			}
			timedOut |= thrown instanceof TimeoutException || thrown instanceof HttpTimeoutException;
		}
		return false;
	}

	private @Nullable LlmFailure askFirst(Throwable thrown, FailureContext context) {
		for (FailureClassifier classifier : this.first) {
			try {
				LlmFailure failure = classifier.classify(thrown, context);
				if (failure != null) {
					return failure;
				}
			}
			catch (RuntimeException ex) {
				// Its message may hold anything, so only its type is logged.
				logger.warn("Ignored " + classifier.getClass().getName() + ", which must not throw but threw "
						+ ex.getClass().getName());
			}
		}
		return null;
	}

	private LlmFailure judge(List<Throwable> chain, FailureContext context) {
		Transport transport = null;
		Hearsay hearsay = null;
		for (Throwable thrown : chain) {
			if (thrown instanceof Error) {
				return LlmFailure.of(FailureKind.APPLICATION);
			}
			FailureFacts facts = read(thrown);
			if (facts instanceof Response response) {
				return judge(response, context);
			}
			if (facts instanceof Transport fact) {
				transport = fact.or(transport);
			}
			if (facts instanceof Hearsay fact && hearsay == null) {
				hearsay = fact;
			}
		}
		if (transport == null && hearsay != null) {
			return judge(hearsay.response(), context);
		}
		return (transport != null) ? judge(transport) : LlmFailure.of(FailureKind.APPLICATION);
	}

	private static LlmFailure judge(Response response, FailureContext context) {
		LlmFailure failure = ResponseJudge.judge(response, context.type().rules(), context.now());
		// Headers that came before the error speak of the moment before it.
		return response.insideSuccess() ? failure
				: failure.withLimits(RateLimitHeaders.read(context.type(), response.headers(), context.now()));
	}

	private @Nullable FailureFacts read(Throwable thrown) {
		for (FailureReader reader : this.readers) {
			try {
				FailureFacts facts = reader.read(thrown);
				if (facts != null) {
					return facts;
				}
			}
			catch (LinkageError ex) {
				// A version of the library that lacks what the reader names: then
				// nothing is known about the exception.
			}
		}
		return null;
	}

	private static LlmFailure judge(Transport transport) {
		LlmFailure connection = LlmFailure.of(FailureKind.CONNECTION);
		return switch (transport) {
			// Not the provider's failure: its breaker must not hear of it.
			case NOT_STARTED -> connection.withKind(FailureKind.APPLICATION);
			case CERTIFICATE -> connection.withKind(FailureKind.MISCONFIGURED);
			// May be a blip of the name service, but more often it is a typing error.
			case UNKNOWN_HOST -> connection.withSent(false).withMaxRetries(1);
			case NOT_CONNECTED -> connection.withSent(false);
			case TIMED_OUT -> connection.withKind(FailureKind.TIMEOUT);
			case CANCELLED -> connection.withKind(FailureKind.CANCELLED);
			case BROKEN -> connection;
		};
	}

}
