package dev.llmresilience.weaving;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import dev.llmresilience.aop.RecordingTransactions;
import dev.llmresilience.limiter.RateLimiter;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopContext;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static dev.llmresilience.weaving.Attempts.PROTECTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * A call that a proxy and a weaver both see is protected once, and what it calls from
 * within is a call of its own.
 */
@Tag("weaving")
class OneLayerWeavingTests {

	private static final String DEFAULT = "llm.resilience.providers.default.";

	private final ApplicationContextRunner runner = Attempts.runner();

	private static Stream<Arguments> throughAProxy() {
		return Stream
			.of(row("a method", OnMethod.class, Api::ask), row("a class", OnClass.class, Api::ask),
					row("an interface type", OfTypeApi.class, Api::ask),
					row("an interface method and the class", OfMethodApi.class, Api::ask),
					row("a superclass's method, called by the one that overrides it", CallsSuper.class, Api::ask),
					row("both a superclass's method and the one that overrides it", OnBoth.class, Api::ask),
					row("a method behind a bridge", OfGenericApi.class, Api::ask),
					row("a future", OnMethod.class, (api) -> api.later().join()),
					row("a publisher", OnMethod.class, (api) -> api.mono().block()))
			.flatMap((row) -> Stream.of(Arguments.of(row, true), Arguments.of(row, false)));
	}

	@ParameterizedTest(name = "{0}, proxy-target-class={1}")
	@MethodSource("throughAProxy")
	void aCallThroughAProxyIsProtectedOnce(Row row, boolean proxyTargetClass) {
		Attempts attempts = new Attempts();
		withBean(row.type(), attempts).withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.run((context) -> {
				Api api = context.getBean(Api.class);
				assertThat(AopUtils.isAopProxy(api)).isTrue();
				assertThat(AopUtils.isCglibProxy(api)).isEqualTo(proxyTargetClass);
				assertThatException().isThrownBy(() -> row.call().accept(api));
				assertThat(attempts.count()).isEqualTo(PROTECTED);
				assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
			});
	}

	@Test
	void soItIsWhereAttemptsRunOnAWorker() {
		Attempts attempts = new Attempts();
		withBean(OnMethod.class, attempts).withPropertyValues(DEFAULT + "retry.attempt-thread=worker")
			.run((context) -> {
				assertThatException().isThrownBy(context.getBean(Api.class)::ask);
				assertThat(attempts.count()).isEqualTo(PROTECTED);
				assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
			});
	}

	@Test
	void soItIsWhenAnotherProviderTakesOver() {
		Attempts attempts = new Attempts();
		withBean(OnMethod.class, attempts)
			.withPropertyValues("llm.resilience.providers.other.type=generic", DEFAULT + "retry.failover=other")
			.run((context) -> {
				assertThatException().isThrownBy(context.getBean(Api.class)::ask);
				assertThat(attempts.count()).isEqualTo(2 * PROTECTED);
				assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
				RateLimiter other = context.getBean("otherRateLimiter", RateLimiter.class);
				assertThat(100 - Math.round(other.level())).isEqualTo(PROTECTED);
			});
	}

	@Test
	void soItIsWhereAnAdviceInsideInvokesTheMethodAgain() {
		Attempts attempts = new Attempts();
		withBean(OnMethod.class, attempts).withUserConfiguration(Twice.class).run((context) -> {
			assertThatException().isThrownBy(context.getBean(Api.class)::ask);
			assertThat(attempts.count()).isEqualTo(2 * PROTECTED);
			assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
		});
	}

	@Test
	void soItIsForAnApplicationThatAnotherHasStartedAfter() {
		Attempts attempts = new Attempts();
		this.runner.withBean(OfOther.class, attempts)
			.withPropertyValues("llm.resilience.providers.other.retry.base-delay=1ms")
			.run((context) -> this.runner.run((second) -> {
				assertThatException().isThrownBy(context.getBean(Api.class)::ask);
				assertThat(attempts.count()).isEqualTo(PROTECTED);
			}));
	}

	@Test
	void soItIsWhereARecoveryStrategyDecides() {
		Attempts attempts = new Attempts();
		withBean(OfRecovery.class, attempts).withBean("again", RecoveryStrategy.class, () -> (run) -> Recovery.retry())
			.run((context) -> {
				assertThatException().isThrownBy(context.getBean(Api.class)::ask);
				assertThat(attempts.count()).isEqualTo(6);
			});
	}

	private static Stream<Arguments> fromWithin() {
		return Stream
			.of(row("another method", Nested.class, Api::ask), row("the same method", Recursive.class, Api::ask),
					row("the same method, inherited and called by the one that overrides it", RecursiveSuper.class,
							Api::ask),
					row("the same method through the proxy", ThroughProxy.class, Api::ask),
					row("the same method of another object", Delegating.class, Api::ask),
					row("the super method of another object", DelegatingSuper.class, Api::ask))
			.map(Arguments::of);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("fromWithin")
	void whatACallCallsFromWithinIsACallOfItsOwn(Row row) {
		Attempts attempts = new Attempts();
		withBean(row.type(), attempts).withUserConfiguration(ExposedProxies.class).run((context) -> {
			Api api = context.getBean(Api.class);
			assertThatException().isThrownBy(() -> row.call().accept(api));
			assertThat(attempts.count()).isEqualTo(PROTECTED);
			assertThat(Attempts.advised(context)).as("and one attempt of the call around it").isEqualTo(1 + PROTECTED);
		});
	}

	@Test
	void anAspectInsideRunsWithEachAttempt() {
		Attempts attempts = new Attempts();
		withBean(Audited.class, attempts).run((context) -> {
			Audited audited = new Audited(attempts);
			assertThatException().isThrownBy(audited::ask);
			assertThat(audited.events).containsExactly("audit", "ask", "audit", "ask", "audit", "ask", "audit", "ask");
			audited.events.clear();
			assertThat(audited.later()).failsWithin(Duration.ofSeconds(10));
			assertThat(audited.events).containsExactly("audit", "later", "audit", "later", "audit", "later", "audit",
					"later");
		});
	}

	@Test
	void eachAttemptHasAWovenTransactionOfItsOwn() {
		this.runner.withUserConfiguration(Transactions.class).run((context) -> {
			RecordingTransactions transactions = context.getBean(RecordingTransactions.class);
			Writer writer = new Writer(transactions.events());
			assertThatException().isThrownBy(writer::call);
			assertThat(transactions.events()).containsExactly("begin", "write", "rollback", "begin", "write",
					"rollback", "begin", "write", "rollback", "begin", "write", "rollback");
			assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
		});
	}

	private ApplicationContextRunner withBean(Class<? extends Api> type, Attempts attempts) {
		return this.runner.withBean(type, attempts);
	}

	private static Row row(String name, Class<? extends Api> type, Consumer<Api> call) {
		return new Row(name, type, call);
	}

	record Row(String name, Class<? extends Api> type, Consumer<Api> call) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	interface Api {

		String ask();

		default CompletableFuture<String> later() {
			throw new UnsupportedOperationException();
		}

		default Mono<String> mono() {
			throw new UnsupportedOperationException();
		}

	}

	static class OnMethod implements Api {

		final Attempts attempts;

		OnMethod(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		@LlmRetry
		public String ask() {
			return this.attempts.fail();
		}

		@Override
		@LlmRetry
		public CompletableFuture<String> later() {
			return Mono.fromCallable(this.attempts::fail).toFuture();
		}

		@Override
		@LlmRetry
		public Mono<String> mono() {
			return Mono.fromCallable(this.attempts::fail);
		}

	}

	@LlmRetry
	static class OnClass implements Api {

		private final Attempts attempts;

		OnClass(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		public String ask() {
			return this.attempts.fail();
		}

	}

	@LlmRetry
	interface TypeApi extends Api {

	}

	static class OfTypeApi implements TypeApi {

		private final Attempts attempts;

		OfTypeApi(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		public String ask() {
			return this.attempts.fail();
		}

	}

	interface MethodApi extends Api {

		@Override
		@LlmRetry
		String ask();

	}

	@LlmRetry
	static class OfMethodApi implements MethodApi {

		private final Attempts attempts;

		OfMethodApi(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		public String ask() {
			return this.attempts.fail();
		}

	}

	static class CallsSuper extends OnMethod {

		CallsSuper(Attempts attempts) {
			super(attempts);
		}

		@Override
		public String ask() {
			return super.ask();
		}

	}

	static class OnBoth extends OnMethod {

		OnBoth(Attempts attempts) {
			super(attempts);
		}

		@Override
		@LlmRetry
		public String ask() {
			return super.ask();
		}

	}

	interface GenericApi<T> extends Api {

		T question(T question);

		@Override
		@SuppressWarnings("unchecked")
		default String ask() {
			return question((T) "why").toString();
		}

	}

	static class OfGenericApi implements GenericApi<String> {

		private final Attempts attempts;

		OfGenericApi(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		@LlmRetry
		public String question(String question) {
			return this.attempts.fail();
		}

	}

	static class OfOther implements Api {

		private final Attempts attempts;

		OfOther(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		@LlmRetry("other")
		public String ask() {
			return this.attempts.fail();
		}

	}

	static class OfRecovery implements Api {

		private final Attempts attempts;

		OfRecovery(Attempts attempts) {
			this.attempts = attempts;
		}

		@Override
		@LlmRetry(recovery = "again")
		public String ask() {
			return this.attempts.fail();
		}

	}

	static class Nested extends OnMethod {

		Nested(Attempts attempts) {
			super(attempts);
		}

		@Override
		@LlmRetry
		public String ask() {
			return other();
		}

		@LlmRetry
		private String other() {
			return this.attempts.fail();
		}

	}

	static class Recursive extends OnMethod {

		private boolean inner;

		Recursive(Attempts attempts) {
			super(attempts);
		}

		@Override
		@LlmRetry
		public String ask() {
			if (this.inner) {
				return this.attempts.fail();
			}
			this.inner = true;
			return ask();
		}

	}

	static class RecursiveSuper extends Recursive {

		RecursiveSuper(Attempts attempts) {
			super(attempts);
		}

		@Override
		@LlmRetry
		public String ask() {
			return super.ask();
		}

	}

	static class ThroughProxy extends OnMethod {

		private boolean inner;

		ThroughProxy(Attempts attempts) {
			super(attempts);
		}

		@Override
		@LlmRetry
		public String ask() {
			if (this.inner) {
				return this.attempts.fail();
			}
			this.inner = true;
			return ((Api) AopContext.currentProxy()).ask();
		}

	}

	static class Delegating extends OnMethod {

		private final @Nullable Delegating next;

		Delegating(Attempts attempts) {
			this(attempts, new Delegating(attempts, null));
		}

		private Delegating(Attempts attempts, @Nullable Delegating next) {
			super(attempts);
			this.next = next;
		}

		@Override
		@LlmRetry
		public String ask() {
			return (this.next != null) ? this.next.ask() : this.attempts.fail();
		}

	}

	static class DelegatingSuper extends OnMethod {

		private final @Nullable DelegatingSuper next;

		DelegatingSuper(Attempts attempts) {
			this(attempts, new DelegatingSuper(attempts, null));
		}

		private DelegatingSuper(Attempts attempts, @Nullable DelegatingSuper next) {
			super(attempts);
			this.next = next;
		}

		@Override
		public String ask() {
			return (this.next != null) ? this.next.ask() : super.ask();
		}

	}

	static class Audited extends OnMethod implements Audit.Target {

		final List<String> events = new CopyOnWriteArrayList<>();

		Audited(Attempts attempts) {
			super(attempts);
		}

		@Override
		public void event(String name) {
			this.events.add(name);
		}

		@Override
		@LlmRetry
		@Audit.Audited
		public String ask() {
			event("ask");
			return this.attempts.fail();
		}

		@Override
		@LlmRetry
		@Audit.Audited
		public CompletableFuture<String> later() {
			event("later");
			return super.later();
		}

	}

	static class Writer {

		private final List<String> events;

		Writer(List<String> events) {
			this.events = events;
		}

		void call() {
			write();
		}

		@LlmRetry
		@Transactional
		public void write() {
			this.events.add("write");
			throw Attempts.refused();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
	static class Transactions {

		@Bean
		RecordingTransactions transactionManager() {
			return new RecordingTransactions();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(exposeProxy = true)
	static class ExposedProxies {

	}

	@Configuration(proxyBeanMethods = false)
	static class Twice {

		@Bean
		static DefaultPointcutAdvisor twice() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.setMappedName("ask");
			return new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> {
				try {
					return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
				}
				catch (RuntimeException ex) {
					return invocation.proceed();
				}
			});
		}

	}

}
