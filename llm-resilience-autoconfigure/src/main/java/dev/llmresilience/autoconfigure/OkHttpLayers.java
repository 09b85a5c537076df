package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import okhttp3.OkHttpClient;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The retries of OkHttp in clients that are beans: it sends a request once more after a
 * 408, and when a connection breaks.
 */
final class OkHttpLayers implements RetryLayerFinder {

	private final ConfigurableListableBeanFactory beans;

	OkHttpLayers(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Collection<Finding> find() {
		List<Finding> found = new ArrayList<>();
		MadeBeans.of(this.beans, OkHttpClient.class).forEach((name, client) -> {
			boolean retries = client.retryOnConnectionFailure();
			found.add(Finding.ofHttpClient(name, retries ? "OkHttp, after a 408 or a broken connection" : "OkHttp",
					retries ? 2 : 1, "Write new OkHttpClient.Builder().retryOnConnectionFailure(false)", true));
		});
		return found;
	}

}
