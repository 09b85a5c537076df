package dev.llmresilience.autoconfigure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.llmresilience.autoconfigure.HttpComponentsLayers.HttpClients;
import org.apache.hc.client5.http.classic.HttpClient;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.http.client.AbstractClientHttpRequestFactoryWrapper;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.web.client.RestTemplate;

/**
 * The clients of Apache's library below request factories and templates that are beans. A
 * {@code RestClient} does not show what is below it.
 */
final class RequestFactoryClients implements HttpClients {

	private final ConfigurableListableBeanFactory beans;

	RequestFactoryClients(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Map<String, List<HttpClient>> byName() {
		Map<String, List<HttpClient>> clients = new LinkedHashMap<>();
		MadeBeans.of(this.beans, ClientHttpRequestFactory.class)
			.forEach((name, factory) -> add(name, factory, clients));
		MadeBeans.of(this.beans, RestTemplate.class)
			.forEach((name, template) -> add(name, template.getRequestFactory(), clients));
		return clients;
	}

	private static void add(String name, ClientHttpRequestFactory factory, Map<String, List<HttpClient>> clients) {
		ClientHttpRequestFactory innermost = factory;
		while (innermost instanceof AbstractClientHttpRequestFactoryWrapper wrapper) {
			innermost = wrapper.getDelegate();
		}
		if (innermost instanceof HttpComponentsClientHttpRequestFactory components) {
			clients.put(name, List.of(components.getHttpClient()));
		}
	}

}
