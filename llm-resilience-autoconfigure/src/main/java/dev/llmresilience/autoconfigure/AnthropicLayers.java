package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.AnthropicClientAsync;
import com.anthropic.client.AnthropicClientAsyncImpl;
import com.anthropic.client.AnthropicClientImpl;
import com.anthropic.core.ClientOptions;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The retries of Anthropic's SDK in clients that are beans. Uses what versions 2.52 and
 * 3.14 have in common.
 */
final class AnthropicLayers implements RetryLayerFinder {

	private final ConfigurableListableBeanFactory beans;

	AnthropicLayers(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Collection<Finding> find() {
		List<Finding> found = new ArrayList<>();
		MadeBeans.of(this.beans, AnthropicClient.class)
			.forEach((name, client) -> found.add(finding(name, retries(client))));
		MadeBeans.of(this.beans, AnthropicClientAsync.class)
			.forEach((name, client) -> found.add(finding(name, retries(client::withOptions)).withoutThread()));
		return found;
	}

	static int retries(AnthropicClient client) {
		return retries(client::withOptions);
	}

	private static int retries(Consumer<Consumer<ClientOptions.Builder>> withOptions) {
		AtomicInteger retries = new AtomicInteger();
		withOptions.accept((options) -> retries.set(options.build().maxRetries()));
		return retries.get();
	}

	private static Finding finding(String name, int retries) {
		return Finding.ofSdk(name, "Anthropic's SDK", retries, Finding.ANTHROPIC,
				"Write AnthropicOkHttpClient.builder().maxRetries(0)", true);
	}

	/**
	 * Switches the retries of a client off.
	 * @param bean any bean
	 * @return a client with the same options and connections, or the bean itself if it is
	 * none of the SDK's own
	 */
	static Object withoutRetries(Object bean) {
		if (bean instanceof AnthropicClientImpl client) {
			return client.withOptions((options) -> options.maxRetries(0));
		}
		return (bean instanceof AnthropicClientAsyncImpl client)
				? client.withOptions((options) -> options.maxRetries(0)) : bean;
	}

}
