package dev.llmresilience.failure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The readers of the client libraries on the class path: a new library is one reader and
 * one line here.
 */
final class FailureReaders {

	// Lambdas, not constructor references: those would load the reader, and with it its
	// library, before anybody asked for it.
	private static final Map<String, Supplier<FailureReader>> PRESENT_WITH = presentWith();

	private FailureReaders() {
	}

	private static Map<String, Supplier<FailureReader>> presentWith() {
		Map<String, Supplier<FailureReader>> readers = new LinkedHashMap<>();
		readers.put("com.anthropic.errors.AnthropicServiceException", () -> new AnthropicReader());
		readers.put("com.openai.errors.OpenAIServiceException", () -> new OpenAiReader());
		readers.put("org.springframework.ai.retry.TransientAiException", () -> new SpringAiReader());
		readers.put("dev.langchain4j.exception.HttpException", () -> new LangChain4jReader());
		readers.put("com.google.genai.gaos.models.errors.GaosBaseException", () -> new GoogleInteractionsReader());
		readers.put("com.google.genai.errors.ApiException", () -> new GoogleGenAiReader());
		readers.put("software.amazon.awssdk.awscore.exception.AwsServiceException", () -> new AwsReader());
		readers.put("com.azure.core.exception.HttpResponseException", () -> new AzureReader());
		readers.put("org.springframework.web.client.RestClientResponseException", () -> new SpringWebReader());
		readers.put("org.springframework.web.reactive.function.client.WebClientException", () -> new WebClientReader());
		readers.put("feign.FeignException", () -> new FeignReader());
		readers.put("retrofit2.HttpException", () -> new RetrofitReader());
		readers.put("org.apache.hc.client5.http.HttpResponseException", () -> new HttpComponentsReader());
		readers.put("reactor.netty.internal.shaded.reactor.pool.PoolAcquireTimeoutException",
				() -> new ReactorNettyReader());
		readers.put("io.netty.handler.timeout.TimeoutException", () -> new NettyReader());
		return readers;
	}

	/**
	 * Creates the readers whose libraries are present, the JDK's own last.
	 * @param classLoader where to look, {@code null} for the default one
	 * @return the readers, in the order in which to ask them
	 */
	static List<FailureReader> present(@Nullable ClassLoader classLoader) {
		List<FailureReader> readers = new ArrayList<>();
		PRESENT_WITH.forEach((library, reader) -> {
			if (ClassUtils.isPresent(library, classLoader)) {
				readers.add(reader.get());
			}
		});
		readers.add(new JdkReader());
		return List.copyOf(readers);
	}

}
