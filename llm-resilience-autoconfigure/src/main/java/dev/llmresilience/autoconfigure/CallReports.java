package dev.llmresilience.autoconfigure;

import java.util.List;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallListener;
import dev.llmresilience.LlmCallReport;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Makes of each report a line in the log, an application event, and a word to the
 * listeners. Thread-safe.
 */
final class CallReports implements LlmCallListener {

	private static final Log logger = LogFactory.getLog("dev.llmresilience.calls");

	private final List<LlmCallListener> listeners;

	private final ApplicationEventPublisher publisher;

	CallReports(List<LlmCallListener> listeners, ApplicationEventPublisher publisher) {
		this.listeners = List.copyOf(listeners);
		this.publisher = publisher;
	}

	@Override
	public void onCall(LlmCallReport report) {
		log(report);
		for (LlmCallListener listener : this.listeners) {
			tell(listener, report);
		}
		tell(this.publisher::publishEvent, report);
	}

	/** A listener that fails must not fail the call. */
	private static void tell(LlmCallListener listener, LlmCallReport report) {
		try {
			listener.onCall(report);
		}
		catch (RuntimeException | Error ex) {
			logger.error("A listener failed on: " + report.getMessage(), ex);
		}
	}

	/**
	 * What the provider did to a call is for whoever runs the application. The guards
	 * have lines of their own for what they refuse, which may be thousands of calls a
	 * second, and what the caller did the caller knows.
	 */
	private static void log(LlmCallReport report) {
		GiveUpReason reason = report.reason();
		if (reason == null) {
			logger.info(report.getMessage());
		}
		else if (report.attempts().isEmpty() || reason == GiveUpReason.NESTED || reason == GiveUpReason.CANCELLED
				|| isCallers(report.lastKind())) {
			logger.debug(report.getMessage());
		}
		else {
			logger.warn(report.getMessage());
		}
	}

	private static boolean isCallers(@Nullable FailureKind kind) {
		return kind == FailureKind.APPLICATION || kind == FailureKind.CANCELLED;
	}

}
