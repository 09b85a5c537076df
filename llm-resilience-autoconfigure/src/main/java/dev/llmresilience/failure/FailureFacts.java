package dev.llmresilience.failure;

import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * What one exception says, in words that no client library owns. Facts are not judged:
 * that is the work of {@link ResponseJudge} and {@link DefaultFailureClassifier}.
 */
sealed interface FailureFacts {

	/**
	 * The provider answered, and the answer is an error.
	 *
	 * @param status the HTTP status; a success status for an error that came inside a
	 * stream or body after the headers were sent
	 * @param headers the values of the header of a name, in any case; empty for an absent
	 * one
	 * @param body the error body, {@link ErrorBody#EMPTY} where there was none
	 */
	record Response(int status, Function<String, List<String>> headers, ErrorBody body) implements FailureFacts {

		/**
		 * Whether the error came after a success status had been sent, so that status and
		 * headers say nothing about it.
		 * @return {@code true} for an error inside a successful response
		 */
		boolean insideSuccess() {
			return this.status >= 200 && this.status < 300;
		}

	}

	/**
	 * A client library's own idea of what the provider answered, where the answer itself
	 * is lost. It counts only where nothing else in the cause chain tells more.
	 *
	 * @param response the answer as the library took it
	 */
	record Hearsay(Response response) implements FailureFacts {
	}

	/**
	 * No answer came. Ordered from the most to the least telling: of several exceptions
	 * in a cause chain, the one that comes first here is the reason and the others are
	 * its wrappings.
	 */
	enum Transport implements FailureFacts {

		/** This side had no connection or thread to give: nobody was asked. */
		NOT_STARTED,

		/** The peer's certificate or host name was not accepted. */
		CERTIFICATE,

		/** The host name did not resolve. */
		UNKNOWN_HOST,

		/** No connection came about, TLS handshake included: nothing was sent. */
		NOT_CONNECTED,

		/** No answer in time. */
		TIMED_OUT,

		/** Somebody on this side cancelled the exchange. */
		CANCELLED,

		/** The connection broke; the request may have been sent. */
		BROKEN;

		/**
		 * Returns the more telling one of two facts about the same failure.
		 * @param other the other fact, or {@code null}
		 * @return the more telling one
		 */
		Transport or(@Nullable Transport other) {
			return (other == null || compareTo(other) <= 0) ? this : other;
		}

	}

}
