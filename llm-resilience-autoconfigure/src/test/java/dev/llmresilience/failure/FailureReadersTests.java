package dev.llmresilience.failure;

import java.net.ConnectException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Instant;

import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonParser;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FailureReaders}.
 */
class FailureReadersTests {

	@Test
	void readsEveryClientLibraryThatIsPresent() {
		assertThat(FailureReaders.present(null)).hasExactlyElementsOfTypes(AnthropicReader.class, OpenAiReader.class,
				SpringAiReader.class, LangChain4jReader.class, GoogleInteractionsReader.class, GoogleGenAiReader.class,
				AwsReader.class, AzureReader.class, SpringWebReader.class, WebClientReader.class, FeignReader.class,
				RetrofitReader.class, HttpComponentsReader.class, ReactorNettyReader.class, NettyReader.class,
				JdkReader.class);
	}

	@Test
	void worksWithoutAnyClientLibrary() throws Exception {
		try (URLClassLoader bare = classLoaderOf(DefaultFailureClassifier.class, ClassUtils.class, JsonParser.class,
				Nullable.class, LogFactory.class)) {
			Class<?> type = bare.loadClass(ProviderType.class.getName());
			Class<?> context = bare.loadClass(FailureContext.class.getName());
			Class<?> classifier = bare.loadClass(DefaultFailureClassifier.class.getName());
			Object failure = classifier.getMethod("classify", Throwable.class, context)
				.invoke(classifier.getConstructor().newInstance(), new ConnectException(),
						context.getConstructor(type, Instant.class, boolean.class)
							.newInstance(type.getField("GENERIC").get(null), Failures.NOW, false));
			assertThat(failure.toString()).contains("kind=CONNECTION");
			assertThat(ClassUtils.isPresent("com.anthropic.errors.AnthropicException", bare)).isFalse();
			assertThat(ClassUtils.isPresent("org.springframework.web.client.RestClient", bare)).isFalse();
		}
	}

	private static URLClassLoader classLoaderOf(Class<?>... classes) {
		URL[] urls = new URL[classes.length];
		for (int i = 0; i < classes.length; i++) {
			urls[i] = classes[i].getProtectionDomain().getCodeSource().getLocation();
		}
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

}
