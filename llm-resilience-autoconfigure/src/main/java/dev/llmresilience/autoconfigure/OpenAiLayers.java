package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientAsync;
import com.openai.client.OpenAIClientAsyncImpl;
import com.openai.client.OpenAIClientImpl;
import com.openai.core.ClientOptions;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The retries of OpenAI's SDK in clients that are beans. A client shows its options only
 * to who makes another one with them.
 */
final class OpenAiLayers implements RetryLayerFinder {

	private final ConfigurableListableBeanFactory beans;

	OpenAiLayers(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Collection<Finding> find() {
		List<Finding> found = new ArrayList<>();
		MadeBeans.of(this.beans, OpenAIClient.class)
			.forEach((name, client) -> found.add(finding(name, retries(client::withOptions))));
		MadeBeans.of(this.beans, OpenAIClientAsync.class)
			.forEach((name, client) -> found.add(finding(name, retries(client::withOptions)).withoutThread()));
		return found;
	}

	private static int retries(Consumer<Consumer<ClientOptions.Builder>> withOptions) {
		AtomicInteger retries = new AtomicInteger();
		withOptions.accept((options) -> retries.set(options.build().maxRetries()));
		return retries.get();
	}

	private static Finding finding(String name, int retries) {
		return Finding.ofSdk(name, "OpenAI's SDK", retries, Finding.OPENAI,
				"Write OpenAIOkHttpClient.builder().maxRetries(0)", true);
	}

	/**
	 * Switches the retries of a client off.
	 * @param bean any bean
	 * @return a client with the same options and connections, or the bean itself if it is
	 * none of the SDK's own
	 */
	static Object withoutRetries(Object bean) {
		if (bean instanceof OpenAIClientImpl client) {
			return client.withOptions((options) -> options.maxRetries(0));
		}
		return (bean instanceof OpenAIClientAsyncImpl client) ? client.withOptions((options) -> options.maxRetries(0))
				: bean;
	}

}
