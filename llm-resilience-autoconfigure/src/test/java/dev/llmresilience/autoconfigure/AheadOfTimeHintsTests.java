package dev.llmresilience.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Map;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.actuate.LlmBreakersEndpoint.BreakerDescriptor;
import dev.llmresilience.actuate.LlmBreakersEndpoint.LastFailureDescriptor;
import dev.llmresilience.actuate.PolicyDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.LimitDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.LimiterDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.MethodDescriptor;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Breaker;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Budget;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Limiter;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Quota;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Retry;
import dev.llmresilience.engine.Providers;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.io.InputStreamSource;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is worked out ahead of time: what a native image keeps, and what is left for the
 * start.
 */
class AheadOfTimeHintsTests {

	private static final InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();

	private static RuntimeHints hints = new RuntimeHints();

	@BeforeAll
	static void process() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			TestPropertyValues
				.of("llm.resilience.providers.anthropic.type=anthropic",
						"management.endpoints.web.exposure.include=llmbreakers,llmproviders")
				.applyTo(context);
			context.register(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					LlmBreakersEndpointAutoConfiguration.class, LlmProvidersEndpointAutoConfiguration.class, Chat.class,
					Composed.class, Implementation.class, Plain.class);
			DefaultGenerationContext generation = new DefaultGenerationContext(
					new ClassNameGenerator(ClassName.get("com.example", "Application")), files);
			ClassName unused = new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
			generation.writeGeneratedContent();
			hints = generation.getRuntimeHints();
			new LlmResilienceRuntimeHints().registerHints(hints, null);
		}
	}

	@ParameterizedTest
	@CsvSource({ "ask, sorry", "askWithFailure, sorryFor" })
	void protectedMethodsAndTheirFallbacksCanBeCalled(String method, String fallback) throws Exception {
		assertInvocable(Chat.class, method, Question.class);
		assertThat(Chat.class.getDeclaredMethods()).filteredOn((found) -> found.getName().equals(fallback))
			.singleElement()
			.satisfies((found) -> assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(found))
				.accepts(hints));
	}

	@Test
	void methodsUnderAComposedAnnotationCount() throws Exception {
		assertInvocable(Composed.class, "ask", String.class);
		assertInvocable(Composed.class, "sorry", String.class);
	}

	@Test
	void methodsWhoseAnnotationStandsOnAnInterfaceCount() throws Exception {
		assertInvocable(Implementation.class, "ask", String.class);
		assertInvocable(Implementation.class, "sorry", String.class);
	}

	@Test
	void whatExpressionsReadCanBeRead() throws Exception {
		assertInvocable(Question.class, "tenant");
		assertInvocable(Question.class, "text");
		assertInvocable(Tenant.class, "getId");
		assertInvocable(Chat.class, "tokensOf", Question.class);
		assertInvocable(Estimates.class, "of", String.class);
		assertInvocable(String.class, "length");
	}

	@Test
	void theAttributesOfTheAnnotationsCanBeRead() {
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(LlmRetry.class)
			.withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS)).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(Careful.class)
			.withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(LlmRetry.class)).accepts(hints);
	}

	@Test
	void aClassWithoutProtectedMethodsCostsNothing() throws Exception {
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Plain.class.getMethod("ask", String.class)))
			.rejects(hints);
	}

	@ParameterizedTest
	@ValueSource(classes = { LlmResilienceProperties.class, ProviderEntry.class, Retry.class, Budget.class,
			Limiter.class, Breaker.class, Quota.class })
	void propertiesCanBeBound(Class<?> type) {
		assertThat(RuntimeHintsPredicates.reflection().onConstructorInvocation(type.getDeclaredConstructors()[0]))
			.accepts(hints);
	}

	@ParameterizedTest
	@ValueSource(classes = { BreakerDescriptor.class, LastFailureDescriptor.class, ProviderDescriptor.class,
			LimiterDescriptor.class, LimitDescriptor.class, PolicyDescriptor.class, MethodDescriptor.class })
	void answersOfEndpointsCanBeWritten(Class<?> type) {
		assertThat(type.getRecordComponents()).isNotEmpty()
			.allSatisfy((component) -> assertThat(
					RuntimeHintsPredicates.reflection().onMethodInvocation(component.getAccessor()))
				.accepts(hints));
	}

	@Test
	void guardsAreLeftForTheStartBecauseTheirEntriesAreConfiguration() throws Exception {
		assertInvocable(Providers.class, "limiter", String.class);
		assertInvocable(Providers.class, "budget", String.class);
		assertInvocable(Providers.class, "breaker", String.class);
		Map<String, InputStreamSource> sources = files.getGeneratedFiles(Kind.SOURCE);
		assertThat(sources).isNotEmpty();
		for (String source : sources.keySet()) {
			assertThat(files.getGeneratedFileContent(Kind.SOURCE, source)).doesNotContain("anthropicCircuitBreaker",
					"anthropicRateLimiter", "anthropicRetryBudget");
		}
	}

	private static void assertInvocable(Class<?> type, String method, Class<?>... parameters) throws Exception {
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(type.getDeclaredMethod(method, parameters)))
			.as(type.getSimpleName() + "." + method)
			.accepts(hints);
	}

	static class Chat {

		@LlmRetry(provider = "anthropic", fallbackMethod = "sorry", key = "#question.tenant.id",
				tokens = "tokensOf(#question) + T(dev.llmresilience.autoconfigure.AheadOfTimeHintsTests$Estimates).of(#question.text())",
				deduplicate = "#p0.text().length()")
		public String ask(Question question) {
			return "answer";
		}

		@LlmRetry(provider = "anthropic", fallbackMethod = "sorryFor")
		public String askWithFailure(Question question) {
			return "answer";
		}

		String sorry(Question question) {
			return "sorry";
		}

		String sorryFor(Question question, Throwable failure) {
			return "sorry";
		}

		public long tokensOf(Question question) {
			return 1;
		}

	}

	public record Question(Tenant tenant, String text) {
	}

	public static class Tenant {

		public String getId() {
			return "id";
		}

	}

	public static final class Estimates {

		private Estimates() {
		}

		public static long of(String text) {
			return text.length();
		}

	}

	@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@LlmRetry(provider = "anthropic", fallbackMethod = "sorry")
	@interface Careful {

		@AliasFor(annotation = LlmRetry.class)
		int maxAttempts() default 2;

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@Careful(maxAttempts = 3)
	@interface VeryCareful {

	}

	static class Composed {

		@VeryCareful
		public String ask(String question) {
			return "answer";
		}

		String sorry(String question) {
			return "sorry";
		}

	}

	@LlmRetry(provider = "anthropic", fallbackMethod = "sorry")
	interface Contract {

		String ask(String question);

	}

	static class Implementation implements Contract {

		@Override
		public String ask(String question) {
			return String.join("", List.of("answer"));
		}

		String sorry(String question) {
			return "sorry";
		}

	}

	static class Plain {

		public String ask(String question) {
			return "answer";
		}

	}

}
