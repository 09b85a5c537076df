package dev.llmresilience.aop;

import java.io.PrintWriter;
import java.io.Serial;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.engine.Providers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Calls of a method with a key, behind a real proxy: one failure opens the breaker of the
 * tenant it happened to.
 */
@ExtendWith(OutputCaptureExtension.class)
class CallKeyTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.max-attempts=1",
				"llm.resilience.providers.anthropic.breaker.failure-threshold=1");

	@Test
	void oneTenantsFailureIsNoneOfAnothers(CapturedOutput output) {
		run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> chat.ask("acme-secret", "fail"));
			assertThatExceptionOfType(CircuitOpenException.class).isThrownBy(() -> chat.ask("acme-secret", "hi"))
				.satisfies((ex) -> assertThat(ex.provider()).isEqualTo("anthropic"))
				.withMessageNotContaining("secret");
			assertThat(chat.ask("other", "hi")).isEqualTo("anthropic");
			assertThat(context.getBean("anthropicCircuitBreaker", CircuitBreaker.class).state())
				.isEqualTo(BreakerState.CLOSED);
			assertThat(context.getBean(Events.class).providers).containsExactly("anthropic");
			assertThat(output).contains("Circuit breaker of 'anthropic': CLOSED -> OPEN").doesNotContain("secret");
		});
	}

	@Test
	void withoutATenantTheGuardsOfTheEntryHold() {
		run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> chat.ask(null, "fail"));
			assertThat(context.getBean("anthropicCircuitBreaker", CircuitBreaker.class).state())
				.isEqualTo(BreakerState.OPEN);
			assertThatExceptionOfType(CircuitOpenException.class).isThrownBy(() -> chat.ask(null, "hi"));
			assertThat(chat.ask("acme", "hi")).isEqualTo("anthropic");
		});
	}

	@Test
	void methodsOfOneProviderShareTheGuardsOfAValue() {
		run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> chat.ask("acme", "fail"));
			assertThatExceptionOfType(CircuitOpenException.class)
				.isThrownBy(() -> chat.askFor(Map.of("tenant", "acme"), "hi"));
			assertThat(chat.askFor(Map.of("tenant", "other"), "hi")).isEqualTo("anthropic");
		});
	}

	@Test
	void aKeyThatCannotBeEvaluatedFailsTheCallAndNamesNoValue() {
		run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatIllegalStateException().isThrownBy(() -> chat.askFor(null, "secret"))
				.withMessage("@LlmRetry(key = \"#request['tenant']\") on "
						+ "dev.llmresilience.aop.CallKeyTests$Chat.askFor cannot be evaluated: "
						+ "CANNOT_INDEX_INTO_NULL_VALUE");
			assertThatIllegalStateException().isThrownBy(() -> chat.askAsUser("secret"))
				.withMessage("@LlmRetry(key = \"currentUser()\") on "
						+ "dev.llmresilience.aop.CallKeyTests$Chat.askAsUser cannot be evaluated: "
						+ "java.lang.UnsupportedOperationException");
			assertThat(chat.attempts()).isZero();
		});
	}

	@Test
	void norDoesItsCauseWhichTellsWhereItWas(CapturedOutput output) {
		run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatIllegalStateException().isThrownBy(() -> chat.askNumber("canary", "hi"))
				.satisfies((ex) -> assertThat(ex).hasStackTraceContaining("java.lang.NumberFormatException")
					.hasStackTraceContaining("java.lang.Integer.parseInt"))
				.satisfies((ex) -> assertThat(stackTrace(ex)).doesNotContain("canary"));
			assertThatIllegalStateException().isThrownBy(() -> chat.askAsUser("hi"))
				.satisfies((ex) -> assertThat(ex).hasStackTraceContaining("Chat.currentUser"))
				.satisfies((ex) -> assertThat(stackTrace(ex)).doesNotContain("secret"));
			assertThat(output).doesNotContain("canary").doesNotContain("secret");
		});
	}

	private static String stackTrace(Throwable thrown) {
		StringWriter text = new StringWriter();
		thrown.printStackTrace(new PrintWriter(text));
		return text.toString();
	}

	@Test
	void aLeaseEndsWithItsCallHoweverThatEnds() {
		this.runner.withBean(Chat.class, Chat::new).withBean(Events.class, Events::new).run((context) -> {
			Chat chat = context.getBean(Chat.class);
			Providers providers = context.getBean(Providers.class);
			chat.ask("returns", "hi");
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> chat.ask("throws", "fail"));
			assertThatExceptionOfType(CircuitOpenException.class).isThrownBy(() -> chat.ask("throws", "hi"));
			assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> chat.ask("breaks", "break"));
			for (int i = 0; i < Providers.DEFAULT_MAX_KEYS; i++) {
				assertThat(providers.keyed("anthropic").lease(i)).as("every other one has made way").isNotNull();
			}
			assertThat(providers.keyed("anthropic").lease("one more")).isNull();
		});
	}

	@Test
	void aNameIsThatOfTheDeclarationWithTheAnnotation() {
		this.runner.withBean("api", Api.class, Swapped::new).run((context) -> {
			Api api = context.getBean(Api.class);
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> api.ask("acme", "fail"));
			assertThatExceptionOfType(CircuitOpenException.class).isThrownBy(() -> api.ask("acme", "hi"));
			assertThat(api.ask("fail", "hi")).isEqualTo("hi");
		});
	}

	@Test
	void aNameOfTheInterfaceIsKnownWhereOnlyTheTypeIsAnnotated() {
		this.runner.withBean("api", TypeApi.class, RenamedParameters::new).run((context) -> {
			TypeApi api = context.getBean(TypeApi.class);
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> api.ask("acme", "fail"));
			assertThatExceptionOfType(CircuitOpenException.class).isThrownBy(() -> api.ask("acme", "hi"));
			assertThat(api.ask("other", "hi")).isEqualTo("hi");
		});
	}

	@Test
	void aNameOfTheInterfaceIsKnownWhereTheBeanIsAJdkProxy() {
		Api behind = (Api) Proxy.newProxyInstance(Api.class.getClassLoader(), new Class<?>[] { Api.class },
				(proxy, method, arguments) -> answer(Objects.requireNonNull((String) arguments[1])));
		this.runner.withBean("api", Api.class, () -> behind).run((context) -> {
			Api api = context.getBean(Api.class);
			assertThatExceptionOfType(Broken.class).isThrownBy(() -> api.ask("acme", "fail"));
			assertThatExceptionOfType(CircuitOpenException.class).isThrownBy(() -> api.ask("acme", "hi"));
			assertThat(api.ask("other", "hi")).isEqualTo("hi");
		});
	}

	private void run(ContextConsumer<AssertableApplicationContext> test) {
		this.runner.withBean(Chat.class, Chat::new).withBean(Events.class, Events::new).run(test);
	}

	private static String answer(String question) {
		if (question.equals("fail")) {
			throw new Broken();
		}
		return question;
	}

	/** Public, as expressions may call only what is. */
	public static class Chat {

		private final AtomicInteger attempts = new AtomicInteger();

		@LlmRetry(provider = "anthropic", key = "#tenant")
		public String ask(@Nullable String tenant, String question) {
			this.attempts.incrementAndGet();
			if (question.equals("break")) {
				throw new StackOverflowError();
			}
			answer(question);
			return Objects.requireNonNull(LlmCall.current()).provider();
		}

		@LlmRetry(provider = "anthropic", key = "#request['tenant']")
		public String askFor(@Nullable Map<String, String> request, String question) {
			return ask(null, question);
		}

		@LlmRetry(provider = "anthropic", key = "T(Integer).parseInt(#tenant)")
		public String askNumber(String tenant, String question) {
			return ask(tenant, question);
		}

		@LlmRetry(provider = "anthropic", key = "currentUser()")
		public String askAsUser(String question) {
			return ask(null, question);
		}

		public int attempts() {
			return this.attempts.get();
		}

		public String currentUser() {
			throw new UnsupportedOperationException("secret");
		}

	}

	static class Events {

		final List<String> providers = new CopyOnWriteArrayList<>();

		@EventListener
		void on(BreakerTransition transition) {
			this.providers.add(transition.provider());
		}

	}

	public interface Api {

		@LlmRetry(provider = "anthropic", key = "#tenant")
		String ask(String tenant, String question);

	}

	static class Swapped implements Api {

		/** The names are the other way round on purpose. */
		@Override
		@SuppressWarnings("OverridingMethodInconsistentArgumentNamesChecker")
		public String ask(String question, String tenant) {
			return answer(tenant);
		}

	}

	@LlmRetry(provider = "anthropic", key = "#tenant")
	public interface TypeApi {

		String ask(String tenant, String question);

	}

	static class RenamedParameters implements TypeApi {

		@Override
		public String ask(String t, String q) {
			return answer(q);
		}

	}

	static final class Broken extends UncheckedIOException {

		@Serial
		private static final long serialVersionUID = 1L;

		Broken() {
			super(new ConnectException("refused"));
		}

	}

}
