package dev.llmresilience.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.LlmCallListener;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import dev.llmresilience.TokenEstimator;
import dev.llmresilience.TokenUsageReader;
import dev.llmresilience.aop.CallShape;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.docs.Page;
import dev.llmresilience.engine.CallMonitor;
import dev.llmresilience.engine.CallTrace;
import dev.llmresilience.engine.ContextCarrier;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.failure.ResultClassifier;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.HttpServerErrorException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the page on the architecture against the code.
 */
class ArchitecturePageTests {

	private static final Page PAGE = Page.of("architecture.md");

	private static final Path MAIN = Path.of("src/main/java/dev/llmresilience");

	private static final Path TESTS = Path.of("src/test/java/dev/llmresilience");

	static Stream<String> names() {
		return PAGE.code("@?[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(\\.[A-Z][A-Za-z]+)?")
			// Not ours.
			.filter((name) -> !name.startsWith("@Conditional"));
	}

	@ParameterizedTest
	@MethodSource("names")
	void aClassOnThePageExists(String name) {
		String[] parts = name.replace("@", "").split("\\.", -1);
		List<Path> files = Stream.of(MAIN, TESTS)
			.flatMap(ArchitecturePageTests::walk)
			.filter((file) -> file.endsWith(parts[0] + ".java"))
			.toList();
		assertThat(files).isNotEmpty();
		if (parts.length > 1) {
			assertThat(files.stream().map(ArchitecturePageTests::read)).first()
				.asString()
				.containsPattern("(class|interface|record|enum) " + parts[1] + "\\b");
		}
	}

	@Test
	void theFloorsAreThoseOfTheHouse() {
		List<List<String>> floors = ArchitectureTests.FLOORS.stream()
			.map((floor) -> floor.stream().filter((name) -> Files.isDirectory(MAIN.resolve(name))).toList())
			.filter((floor) -> !floor.isEmpty())
			.toList();
		assertThat(PAGE.rows("floors")
			.stream()
			.map((row) -> Arrays.stream(row.get(0).replaceAll("`|\\(root\\)", "").split(", ", -1)).toList()))
			.containsExactlyElementsOf(floors);
	}

	@Test
	void theDecisionIsThreeJumpsFromTheAdvice() {
		assertThat(main("LlmRetryAspect")).contains("plan.shape().call(");
		assertThat(main("BlockingShape")).contains("this.driver.call(");
		assertThat(main("BlockingDriver")).contains("invocation.begin()", "call.failed(");
		assertThat(main("Call")).contains("RetryDecider.decide(");
	}

	static List<List<String>> invariants() {
		return PAGE.rows("invariants");
	}

	@ParameterizedTest
	@MethodSource("invariants")
	void anInvariantIsThatOfTheClassComment(List<String> row) {
		String source = main(row.get(0).replace("`", ""));
		String comment = source.substring(source.indexOf("/**"), source.indexOf("*/"));
		assertThat(words(comment.replaceAll("\\{@(code|link) #?([^}]*)}", "$2").replaceAll("\n \\* ?", " ")))
			.contains(words(row.get(1).replace("`", "")));
	}

	@Test
	void everyBeanOfThePageIsAsked() {
		Set<String> asked = ConcurrentHashMap.newKeySet();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms",
					"llm.resilience.providers.anthropic.limiter.tokens-per-minute=1000000")
			.withBean(Methods.class)
			.withBean(FailureClassifier.class, () -> noting(asked, FailureClassifier.class, (thrown, context) -> null))
			.withBean(ResultClassifier.class, () -> noting(asked, ResultClassifier.class, (result, context) -> null))
			.withBean(TokenEstimator.class, () -> noting(asked, TokenEstimator.class, (method, arguments) -> 10))
			.withBean(TokenUsageReader.class, () -> noting(asked, TokenUsageReader.class, (result) -> null))
			.withBean("once", RecoveryStrategy.class,
					() -> noting(asked, RecoveryStrategy.class, (run) -> Recovery.retry()))
			.withBean(LlmCallListener.class, () -> noting(asked, LlmCallListener.class, (report) -> {
			}))
			.withBean(ContextCarrier.class, () -> noting(asked, ContextCarrier.class, ContextCarrier.NONE))
			.withBean(TimeSource.class, () -> noting(asked, TimeSource.class, new SystemTimeSource()))
			.withBean(CallMonitor.Factory.class,
					() -> noting(asked, CallMonitor.Factory.class, CallMonitor.Factory.NONE))
			.withBean(CallTrace.Tracer.class, () -> noting(asked, CallTrace.Tracer.class, CallTrace.Tracer.NONE))
			.withBean(CallShape.Factory.class, () -> noting(asked, CallShape.Factory.class, (method) -> null))
			.run((context) -> {
				Methods methods = context.getBean(Methods.class);
				assertThat(methods.model("text")).isEqualTo("answer");
				assertThat(methods.later().get()).isEqualTo("answer");
				assertThat(methods.tool()).isEqualTo("done");
			});
		assertThat(asked).containsExactlyInAnyOrderElementsOf(PAGE.rowsFrom("| bean |")
			.stream()
			.map((row) -> row.get(0).replace("`", ""))
			.collect(Collectors.toCollection(TreeSet::new)));
	}

	/** Notes that it is asked, and answers like another one. */
	private static <T> T noting(Set<String> asked, Class<T> type, T like) {
		String name = type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (method.getDeclaringClass() != Object.class) {
					asked.add(name);
				}
				try {
					return method.invoke(like, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

	private static String words(String text) {
		return text.replaceAll("\\s+", " ");
	}

	private static String main(String type) {
		return read(walk(MAIN).filter((file) -> file.endsWith(type + ".java")).findFirst().orElseThrow());
	}

	private static Stream<Path> walk(Path directory) {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Each fails once. */
	static class Methods {

		private final Set<String> failed = new TreeSet<>();

		@LlmRetry("anthropic")
		String model(String text) {
			failOnce("model");
			return "answer";
		}

		@LlmRetry("anthropic")
		CompletableFuture<String> later() {
			failOnce("later");
			return CompletableFuture.completedFuture("answer");
		}

		@LlmRetry(value = "anthropic", recovery = "once")
		String tool() {
			failOnce("tool");
			return "done";
		}

		private synchronized void failOnce(String method) {
			if (this.failed.add(method)) {
				throw new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR);
			}
		}

	}

}
