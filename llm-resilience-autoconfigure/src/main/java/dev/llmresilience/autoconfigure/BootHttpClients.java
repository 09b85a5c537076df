package dev.llmresilience.autoconfigure;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

import dev.llmresilience.autoconfigure.HttpComponentsLayers.HttpClients;
import org.apache.hc.client5.http.classic.HttpClient;

import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;

/**
 * The clients of Apache's library that Spring Boot makes for {@code RestClient},
 * {@code RestTemplate} and HTTP service clients while the application starts.
 * Thread-safe.
 */
final class BootHttpClients implements HttpClients,
		ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> {

	private static final String BUILDER = "clientHttpRequestFactoryBuilder";

	/** Only those that are in use: there is no end to what is made. */
	private final Set<HttpClient> made = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	@Override
	public HttpComponentsClientHttpRequestFactoryBuilder customize(
			HttpComponentsClientHttpRequestFactoryBuilder builder) {
		return builder.withCustomizer(this::made);
	}

	private void made(HttpComponentsClientHttpRequestFactory factory) {
		this.made.add(factory.getHttpClient());
	}

	@Override
	public Map<String, List<HttpClient>> byName() {
		return Map.of(BUILDER, List.copyOf(this.made));
	}

}
