package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;

import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.autoconfigure.RetryLayerFinder.Finding;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.engine.Provider;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Says at the start which attempts will outlast their time: those on the thread of a
 * caller who waits in a client that does not heed an interrupt. One line names them all.
 */
final class DeafClients {

	private static final Log logger = LogFactory.getLog(DeafClients.class);

	private final boolean virtualThreads;

	/**
	 * Creates it.
	 * @param virtualThreads whether callers are virtual threads, which every client lets
	 * go of when they are interrupted
	 */
	DeafClients(boolean virtualThreads) {
		this.virtualThreads = virtualThreads;
	}

	/**
	 * Warns of protected methods whose attempts may outlast their time.
	 * @param found what was found below protected calls
	 * @param methods the protected methods
	 * @param served tells which entries the calls of a client are made under
	 */
	void warn(Collection<Finding> found, List<ProtectedMethod> methods,
			Function<Finding, ? extends Collection<Provider>> served) {
		if (this.virtualThreads) {
			return;
		}
		Set<String> clients = new LinkedHashSet<>();
		SortedSet<String> entries = new TreeSet<>();
		for (Finding finding : found) {
			List<String> waiting = finding.deaf() ? waiting(methods, served.apply(finding)) : List.of();
			if (!waiting.isEmpty()) {
				clients.add(finding.what());
				entries.addAll(waiting);
			}
		}
		if (!clients.isEmpty()) {
			logger.warn("An attempt of '" + String.join("', '", entries)
					+ "' may outlast its attempt-timeout: OkHttp, below " + String.join(" and ", clients)
					+ ", does not heed the interrupt of a platform thread. Set " + properties(entries)
					+ ", or make the calls on virtual threads.");
		}
	}

	private static List<String> waiting(List<ProtectedMethod> methods, Collection<Provider> served) {
		List<String> waiting = new ArrayList<>();
		for (ProtectedMethod method : methods) {
			Provider provider = method.provider();
			if (method.blocking() && served.contains(provider)
					&& provider.settings().calls().attemptThread() == AttemptThread.CALLER) {
				waiting.add(provider.name());
			}
		}
		return waiting;
	}

	private static String properties(Set<String> entries) {
		return String.join(" and ",
				entries.stream()
					.map((entry) -> "llm.resilience.providers." + entry + ".retry.attempt-thread=worker")
					.toList());
	}

}
