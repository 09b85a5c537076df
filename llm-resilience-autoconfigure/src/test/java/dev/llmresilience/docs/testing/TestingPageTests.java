package dev.llmresilience.docs.testing;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.docs.Page;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FailureContext;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page on testing: its examples are classes and tests of this package, word for word.
 */
class TestingPageTests {

	private static final Page PAGE = Page.of("testing.md");

	private static final Path SOURCES = Path.of("src/test/java/dev/llmresilience/docs/testing");

	static List<String> examples() {
		return PAGE.blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiledAndRun(String example) throws IOException {
		StringBuilder sources = new StringBuilder();
		for (String name : List.of("Summaries", "SummariesTests", "SimulatedProviderTests", "TestingPageTests")) {
			sources.append(plain(Files.readString(SOURCES.resolve(name + ".java"))));
		}
		assertThat(sources).contains(plain(example));
	}

	private static String plain(String code) {
		return code.replaceAll("\\s+", "");
	}

	static Stream<String> names() {
		return PAGE.code("VirtualTime\\.[a-zA-Z]+").map((name) -> name.substring("VirtualTime.".length()));
	}

	@ParameterizedTest
	@MethodSource("names")
	void aMethodOnThePageExists(String name) {
		assertThat(Arrays.stream(VirtualTime.class.getMethods()).map(Method::getName)).contains(name);
	}

	@Test
	void whatThePageSaysToThrowIsJudgedAsWhatItSimulates() {
		FailureContext context = new FailureContext(ProviderType.ANTHROPIC, VirtualTime.DEFAULT_START, false);
		assertThat(Stream
			.of(SummariesTests.rateLimited("2"), new HttpServerErrorException(HttpStatusCode.valueOf(529)), spendCap(),
					new ResourceAccessException("", new SocketTimeoutException("Read timed out")),
					new IllegalStateException("a bug"))
			.map((thrown) -> new DefaultFailureClassifier().classify(thrown, context).kind()))
			.containsExactly(FailureKind.RATE_LIMITED, FailureKind.OVERLOADED, FailureKind.QUOTA_EXHAUSTED,
					FailureKind.TIMEOUT, FailureKind.APPLICATION);
	}

	static HttpClientErrorException spendCap() {
		byte[] body = "{\"error\":{\"type\":\"enforced_spend_limit_reached\"}}".getBytes(UTF_8);
		return HttpClientErrorException.create(HttpStatus.TOO_MANY_REQUESTS, "", HttpHeaders.EMPTY, body, UTF_8);
	}

}
