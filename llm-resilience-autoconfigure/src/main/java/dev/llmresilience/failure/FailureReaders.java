package dev.llmresilience.failure;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The readers of the client libraries on the class path: a new library is one reader and
 * one line here.
 */
final class FailureReaders {

	private FailureReaders() {
	}

	/**
	 * Creates the readers whose libraries are present, the JDK's own last.
	 * @param classLoader where to look, {@code null} for the default one
	 * @return the readers, in the order in which to ask them
	 */
	static List<FailureReader> present(@Nullable ClassLoader classLoader) {
		List<FailureReader> readers = new ArrayList<>();
		if (ClassUtils.isPresent("com.anthropic.errors.AnthropicServiceException", classLoader)) {
			readers.add(new AnthropicReader());
		}
		if (ClassUtils.isPresent("com.openai.errors.OpenAIServiceException", classLoader)) {
			readers.add(new OpenAiReader());
		}
		if (ClassUtils.isPresent("org.springframework.web.client.RestClientResponseException", classLoader)) {
			readers.add(new SpringWebReader());
		}
		readers.add(new JdkReader());
		return List.copyOf(readers);
	}

}
