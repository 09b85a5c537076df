package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.hc.client5.http.classic.HttpClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The retries of Apache's HttpClient, in clients that are beans and in those that other
 * beans send their requests with. It sends even a POST once more after a 429 or 503.
 */
final class HttpComponentsLayers implements RetryLayerFinder {

	private final ConfigurableListableBeanFactory beans;

	private final ObjectProvider<HttpClients> users;

	HttpComponentsLayers(ConfigurableListableBeanFactory beans, ObjectProvider<HttpClients> users) {
		this.beans = beans;
		this.users = users;
	}

	@Override
	public Collection<Finding> find() {
		List<Finding> found = new ArrayList<>();
		Set<HttpClient> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		MadeBeans.of(this.beans, HttpClient.class).forEach((name, client) -> add(name, client, seen, found));
		this.users.orderedStream()
			.forEach((user) -> user.byName()
				.forEach((name, clients) -> clients.forEach((client) -> add(name, client, seen, found))));
		return found;
	}

	private static void add(String name, HttpClient client, Set<HttpClient> seen, List<Finding> found) {
		int tries = seen.add(client) ? HttpComponentsRetries.tries(client) : 1;
		// Several clients of one name are one line, also where only some of them retry.
		if (tries > 1 && found.stream().noneMatch((finding) -> finding.name().equals(name))) {
			found.add(Finding.ofHttpClient(name, "Apache HttpClient, after a 429 or 503", tries,
					"Call disableAutomaticRetries() on its HttpClientBuilder", false));
		}
	}

	/**
	 * Knows clients that some beans send their requests with.
	 */
	@FunctionalInterface
	interface HttpClients {

		/**
		 * The clients, by the name of the bean.
		 * @return the clients
		 */
		Map<String, List<HttpClient>> byName();

	}

}
