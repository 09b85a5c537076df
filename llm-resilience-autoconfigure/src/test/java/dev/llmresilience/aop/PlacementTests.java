package dev.llmresilience.aop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.ResolvableType;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Where an annotation may stand. Each row is one bean behind a real proxy, whose method
 * fails until nobody calls it any more.
 */
@ExtendWith(OutputCaptureExtension.class)
class PlacementTests {

	/** What the policy allows, where the annotation asks for nothing else. */
	private static final int PROTECTED = 4;

	private static final int UNPROTECTED = 1;

	private static final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.default.retry.base-delay=1ms");

	private static final List<Row> rows = List.of(row("X on a class method", Api.class, OnMethod::new, PROTECTED),
			row("X on a class, method declared there", Api.class, OnClass::new, PROTECTED),
			row("X on a class, method inherited from a plain superclass", Api.class, OnSubclass::new, PROTECTED),
			row("X on a superclass, method inherited", Api.class, OfAnnotatedClass::new, PROTECTED),
			row("X on a superclass, method overridden", Api.class, OverridesOfClass::new, PROTECTED),
			row("X on a superclass's method, method inherited", Api.class, OfAnnotatedMethod::new, PROTECTED),
			row("X on a superclass's method, method overridden", Api.class, OverridesMethod::new, PROTECTED),
			row("X on an interface method, implemented by a class", MethodApi.class, OfMethodApi::new, PROTECTED),
			row("X on an interface type, implemented by a class", TypeApi.class, OfTypeApi::new, PROTECTED),
			row("X on a default method, not overridden", DefaultApi.class, OfDefaultApi::new, PROTECTED),
			row("X on a default method, overridden", DefaultApi.class, OverridesDefault::new, PROTECTED),
			row("a default method of an interface type with X", DefaultTypeApi.class, OfDefaultTypeApi::new, PROTECTED),
			row("@C on a class method", Api.class, ComposedOnMethod::new, 5),
			row("@C on a class", Api.class, ComposedOnClass::new, 5),
			row("@CC on a class method, two levels deep", Api.class, TwiceComposed::new, 6),
			row("@C whose attribute is overridden through an alias", Api.class, ComposedWithAlias::new, 3),
			row("@CC whose attribute is overridden through two aliases", Api.class, TwiceComposedWithAlias::new, 2),
			row("@C on an interface method, implemented by a class", ComposedApi.class, OfComposedApi::new, 5),
			row("X on a JDK proxy's interface method", MethodApi.class, jdkProxy(MethodApi.class), PROTECTED),
			row("X on a JDK proxy's interface type", TypeApi.class, jdkProxy(TypeApi.class), PROTECTED),
			row("X on a sub-interface, method from a plain base", SubApi.class, jdkProxy(SubApi.class), PROTECTED),
			row("@C on a JDK proxy's interface method", ComposedApi.class, jdkProxy(ComposedApi.class), 5),
			row("X only on the implementation's method", Api.class, OnMethod::new, PROTECTED),
			row("X on a sub-interface, implemented by a class", SubApi.class, OfSubApi::new, PROTECTED),
			row("X on a method behind a bridge", GenericApi.class, Generic::new, PROTECTED),
			row("X on a generic interface method, implemented for a type", GenericMethodApi.class, OfGenericApi::new,
					PROTECTED),
			row("X on a method and on its class", Api.class, OnBoth::new, 2),
			row("X on an interface method and on the implementing class", MethodApi.class, OnClassOverMethodApi::new,
					PROTECTED),
			row("X on a class and on its interface", TypeApi.class, OnClassOverTypeApi::new, 3),
			row("no annotation at all", Api.class, Plain::new, UNPROTECTED));

	private static Stream<Arguments> rowsInBothModes() {
		return rows.stream().flatMap((row) -> Stream.of(Arguments.of(row, true), Arguments.of(row, false)));
	}

	@ParameterizedTest(name = "{0}, proxy-target-class={1}")
	@MethodSource("rowsInBothModes")
	void theAnnotationIsSeen(Row row, boolean proxyTargetClass) {
		AtomicInteger attempts = new AtomicInteger();
		Object bean = row.bean().apply(() -> fail(attempts));
		runner(proxyTargetClass).withInitializer(register("bean", bean)).run((context) -> {
			Object proxy = context.getBean("bean");
			assertThat(proxy).isInstanceOf(row.type());
			assertThat(AopUtils.isCglibProxy(proxy)).as("a CGLIB proxy")
				.isEqualTo(proxyTargetClass && row.attempts() > 1 && !Proxy.isProxyClass(bean.getClass()));
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> ((Api) proxy).ask("why"));
			assertThat(attempts).hasValue(row.attempts());
		});
	}

	@ParameterizedTest(name = "{0}, proxy-target-class={1}")
	@MethodSource("rowsInBothModes")
	void theProductOfAFactoryBeanIsABeanLikeAnyOther(Row row, boolean proxyTargetClass) {
		AtomicInteger attempts = new AtomicInteger();
		Object product = row.bean().apply(() -> fail(attempts));
		runner(proxyTargetClass).withInitializer(register("bean", new Factory(product))).run((context) -> {
			Api proxy = (Api) context.getBean("bean");
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> proxy.ask("why"));
			assertThat(attempts).hasValue(row.attempts());
		});
	}

	@ParameterizedTest
	@MethodSource("proxyModes")
	void anHttpServiceClientIsProtected(boolean proxyTargetClass) throws IOException {
		assertThat(requestsOf(AnnotatedMethodClient.class, proxyTargetClass)).isEqualTo(PROTECTED);
		assertThat(requestsOf(AnnotatedTypeClient.class, proxyTargetClass)).isEqualTo(PROTECTED);
		assertThat(requestsOf(ComposedClient.class, proxyTargetClass)).isEqualTo(5);
		assertThat(requestsOf(SubClient.class, proxyTargetClass)).isEqualTo(PROTECTED);
	}

	@ParameterizedTest
	@MethodSource("proxyModes")
	void theFallbackOfAnHttpServiceClientIsADefaultMethod(boolean proxyTargetClass) throws IOException {
		withClient(ClientWithFallback.class, proxyTargetClass,
				(client, requests) -> assertThat(client.ask()).isEqualTo("InternalServerError"));
	}

	static Stream<Boolean> proxyModes() {
		return Stream.of(true, false);
	}

	@ParameterizedTest
	@MethodSource("proxyModes")
	void methodsOfObjectAreNotCalls(boolean proxyTargetClass) {
		runner(proxyTargetClass).withInitializer(register("bean", new WithObjectMethods())).run((context) -> {
			Api proxy = (Api) context.getBean("bean");
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(proxy::toString);
			assertThat(WithObjectMethods.attempts).hasValue(1);
			WithObjectMethods target = new WithObjectMethods();
			assertThat(LlmRetryAnnotations.find(method(WithObjectMethods.class, "hashCode"), target.getClass()))
				.isNull();
			assertThat(LlmRetryAnnotations.find(method(WithObjectMethods.class, "equals", Object.class),
					target.getClass()))
				.isNull();
			assertThat(
					LlmRetryAnnotations.find(method(WithObjectMethods.class, "ask", String.class), target.getClass()))
				.isNotNull();
		});
	}

	@ParameterizedTest
	@MethodSource("proxyModes")
	void aClientWhoseToStringFailsIsNoProblem(boolean proxyTargetClass) {
		AtomicInteger attempts = new AtomicInteger();
		Object hostile = Proxy.newProxyInstance(PlacementTests.class.getClassLoader(),
				new Class<?>[] { MethodApi.class }, (proxy, method, args) -> {
					if (method.getDeclaringClass() == Object.class) {
						throw new IllegalStateException(method.getName());
					}
					return fail(attempts);
				});
		runner(proxyTargetClass).withInitializer(register("bean", hostile)).run((context) -> {
			Api proxy = (Api) context.getBean("bean");
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> proxy.ask("why"));
			assertThat(attempts).hasValue(PROTECTED);
		});
	}

	@Test
	void aCallFromWithinTheSameObjectIsNotSeen() {
		AtomicInteger attempts = new AtomicInteger();
		runner(true).withInitializer(register("bean", new CallsItself(() -> fail(attempts)))).run((context) -> {
			CallsItself bean = context.getBean(CallsItself.class);
			assertThatException().isThrownBy(bean::outer);
			assertThat(attempts).hasValue(UNPROTECTED);
		});
	}

	@Test
	void packagePrivateAndProtectedMethodsAreProtectedByASubclassProxy() {
		AtomicInteger attempts = new AtomicInteger();
		runner(true).withInitializer(register("bean", new Narrow(() -> fail(attempts)))).run((context) -> {
			Narrow bean = context.getBean(Narrow.class);
			assertThatException().isThrownBy(bean::packagePrivate);
			assertThatException().isThrownBy(bean::protectedOne);
			assertThat(attempts).hasValue(2 * PROTECTED);
		});
	}

	@Test
	void aFinalMethodIsProtectedBehindAnInterfaceOnly() {
		AtomicInteger attempts = new AtomicInteger();
		FinalMethod bean = new FinalMethod(() -> fail(attempts));
		runner(false).withInitializer(register("bean", bean)).run((context) -> {
			Api proxy = (Api) context.getBean("bean");
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> proxy.ask("why"));
			assertThat(attempts).hasValue(PROTECTED);
		});
	}

	@Test
	void aPrivateMethodOfAnAnnotatedClassNeedsNoFallback() {
		runner(true).withInitializer(register("bean", new ClassWithFallback())).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(((Api) context.getBean("bean")).ask("why")).isEqualTo("fallback for why");
		});
	}

	@Test
	void anAnnotationWhereNoProxyCanStandIsWarnedOf(CapturedOutput output) {
		runner(true).withInitializer(register("bean", new OnPrivateMethod())).run((context) -> {
			assertThat(((Api) context.getBean("bean")).ask("why")).isEqualTo("why");
			assertThat(output.getOut().lines().filter((line) -> line.contains("@LlmRetry does nothing")))
				.singleElement()
				.asString()
				.contains("WARN")
				.contains("OnPrivateMethod.hidden: no proxy can stand before a private or static method");
		});
	}

	@Test
	void aMethodWhoseResultComesLaterIsWarnedOf(CapturedOutput output) {
		runner(true).withInitializer(register("bean", new OnFuture())).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output.getOut().lines().filter((line) -> line.contains("protects only the call")))
				.singleElement()
				.asString()
				.contains("WARN")
				.contains("OnFuture.ask")
				.contains("its Future");
		});
	}

	private static ApplicationContextRunner runner(boolean proxyTargetClass) {
		return runner.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass);
	}

	private static ApplicationContextInitializer<ConfigurableApplicationContext> register(String name, Object bean) {
		return (context) -> {
			RootBeanDefinition definition = new RootBeanDefinition();
			definition.setBeanClass(bean.getClass());
			if (bean instanceof Factory factory) {
				definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, factory.getObjectType());
			}
			else {
				definition.setTargetType(ResolvableType.forClass(bean.getClass()));
			}
			definition.setInstanceSupplier(() -> bean);
			((GenericApplicationContext) context).registerBeanDefinition(name, definition);
		};
	}

	private static int requestsOf(Class<? extends Client> type, boolean proxyTargetClass) throws IOException {
		AtomicInteger count = new AtomicInteger();
		withClient(type, proxyTargetClass, (client, requests) -> {
			assertThatException().isThrownBy(client::ask);
			count.set(requests.get());
		});
		return count.get();
	}

	private static <T extends Client> void withClient(Class<T> type, boolean proxyTargetClass, Use<T> use)
			throws IOException {
		AtomicInteger requests = new AtomicInteger();
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		server.createContext("/", (exchange) -> {
			requests.incrementAndGet();
			exchange.sendResponseHeaders(500, -1);
			exchange.close();
		});
		server.start();
		try {
			RestClient rest = RestClient.create("http://localhost:" + server.getAddress().getPort());
			T client = HttpServiceProxyFactory.builderFor(RestClientAdapter.create(rest)).build().createClient(type);
			runner(proxyTargetClass).withInitializer(register("client", client))
				.run((context) -> use.of(type.cast(context.getBean("client")), requests));
		}
		finally {
			server.stop(0);
		}
	}

	private static String fail(AtomicInteger attempts) {
		attempts.incrementAndGet();
		throw new UncheckedIOException(new ConnectException("refused"));
	}

	private static Method method(Class<?> type, String name, Class<?>... parameters) {
		try {
			return type.getMethod(name, parameters);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

	private static Row row(String name, Class<? extends Api> type, Function<Body, ? extends Object> bean,
			int attempts) {
		return new Row(name, type, bean, attempts);
	}

	private static Function<Body, Object> jdkProxy(Class<?> type) {
		return (body) -> Proxy.newProxyInstance(PlacementTests.class.getClassLoader(), new Class<?>[] { type },
				(proxy, method, args) -> body.run());
	}

	record Row(String name, Class<? extends Api> type, Function<Body, ? extends Object> bean, int attempts) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	@FunctionalInterface
	interface Body {

		String run();

	}

	@FunctionalInterface
	interface Use<T> {

		void of(T client, AtomicInteger requests);

	}

	static final class Factory implements FactoryBean<Object> {

		private final Object product;

		Factory(Object product) {
			this.product = product;
		}

		@Override
		public Object getObject() {
			return this.product;
		}

		@Override
		public Class<?> getObjectType() {
			return this.product.getClass();
		}

	}

	// The interfaces

	interface Api {

		@Nullable String ask(String question);

	}

	interface MethodApi extends Api {

		@Override
		@LlmRetry
		@Nullable String ask(String question);

	}

	@LlmRetry
	interface TypeApi extends Api {

		@Override
		@Nullable String ask(String question);

	}

	@LlmRetry
	interface SubApi extends Api {

	}

	interface DefaultApi extends Api {

		String body();

		@Override
		@LlmRetry
		default @Nullable String ask(String question) {
			return body();
		}

	}

	@LlmRetry
	interface DefaultTypeApi extends Api {

		String body();

		@Override
		default @Nullable String ask(String question) {
			return body();
		}

	}

	interface ComposedApi extends Api {

		@Override
		@Composed
		@Nullable String ask(String question);

	}

	interface GenericApi<T> extends Api {

		String answer(T question);

		@Override
		@SuppressWarnings("unchecked")
		default @Nullable String ask(String question) {
			return answer((T) question);
		}

	}

	interface GenericMethodApi<T> extends Api {

		@LlmRetry
		String answer(T question);

	}

	// The composed annotations

	@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
	@Retention(RetentionPolicy.RUNTIME)
	@LlmRetry(maxAttempts = 5)
	@interface Composed {

		@AliasFor(annotation = LlmRetry.class, attribute = "maxAttempts")
		int tries() default 5;

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@Composed
	@interface TwiceComposedOne {

		@AliasFor(annotation = Composed.class, attribute = "tries")
		int times() default 6;

	}

	// The classes

	static class Plain implements Api {

		private final Body body;

		Plain(Body body) {
			this.body = body;
		}

		@Override
		public @Nullable String ask(String question) {
			return this.body.run();
		}

		Body body() {
			return this.body;
		}

	}

	static class OnMethod implements Api {

		private final Body body;

		OnMethod(Body body) {
			this.body = body;
		}

		@Override
		@LlmRetry
		public @Nullable String ask(String question) {
			return this.body.run();
		}

	}

	@LlmRetry
	static class OnClass implements Api {

		private final Body body;

		OnClass(Body body) {
			this.body = body;
		}

		@Override
		public @Nullable String ask(String question) {
			return this.body.run();
		}

	}

	@LlmRetry
	static class OnSubclass extends Plain {

		OnSubclass(Body body) {
			super(body);
		}

	}

	static class OfAnnotatedClass extends OnClass {

		OfAnnotatedClass(Body body) {
			super(body);
		}

	}

	static class OverridesOfClass extends OnClass {

		OverridesOfClass(Body body) {
			super(body);
		}

		@Override
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class OfAnnotatedMethod extends OnMethod {

		OfAnnotatedMethod(Body body) {
			super(body);
		}

	}

	static class OverridesMethod extends OnMethod {

		OverridesMethod(Body body) {
			super(body);
		}

		@Override
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class OfMethodApi extends Plain implements MethodApi {

		OfMethodApi(Body body) {
			super(body);
		}

		@Override
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class OfTypeApi extends Plain implements TypeApi {

		OfTypeApi(Body body) {
			super(body);
		}

	}

	static class OfSubApi extends Plain implements SubApi {

		OfSubApi(Body body) {
			super(body);
		}

	}

	static class OfDefaultApi implements DefaultApi {

		private final Body body;

		OfDefaultApi(Body body) {
			this.body = body;
		}

		@Override
		public String body() {
			return this.body.run();
		}

	}

	static class OverridesDefault extends OfDefaultApi {

		OverridesDefault(Body body) {
			super(body);
		}

		@Override
		public @Nullable String ask(String question) {
			return body();
		}

	}

	static class OfDefaultTypeApi implements DefaultTypeApi {

		private final Body body;

		OfDefaultTypeApi(Body body) {
			this.body = body;
		}

		@Override
		public String body() {
			return this.body.run();
		}

	}

	static class ComposedOnMethod extends Plain {

		ComposedOnMethod(Body body) {
			super(body);
		}

		@Override
		@Composed
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	@Composed
	static class ComposedOnClass extends Plain {

		ComposedOnClass(Body body) {
			super(body);
		}

	}

	static class TwiceComposed extends Plain {

		TwiceComposed(Body body) {
			super(body);
		}

		@Override
		@TwiceComposedOne
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class ComposedWithAlias extends Plain {

		ComposedWithAlias(Body body) {
			super(body);
		}

		@Override
		@Composed(tries = 3)
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class TwiceComposedWithAlias extends Plain {

		TwiceComposedWithAlias(Body body) {
			super(body);
		}

		@Override
		@TwiceComposedOne(times = 2)
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class OfComposedApi extends Plain implements ComposedApi {

		OfComposedApi(Body body) {
			super(body);
		}

		@Override
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	static class Generic implements GenericApi<String> {

		private final Body body;

		Generic(Body body) {
			this.body = body;
		}

		@Override
		public String answer(String question) {
			return this.body.run();
		}

		@Override
		@LlmRetry
		public @Nullable String ask(String question) {
			return answer(question);
		}

	}

	static class OfGenericApi implements GenericMethodApi<String> {

		private final Body body;

		OfGenericApi(Body body) {
			this.body = body;
		}

		@Override
		public String answer(String question) {
			return this.body.run();
		}

		@Override
		@LlmRetry
		public @Nullable String ask(String question) {
			return answer(question);
		}

	}

	@LlmRetry(maxAttempts = 7)
	static class OnBoth extends Plain {

		OnBoth(Body body) {
			super(body);
		}

		@Override
		@LlmRetry(maxAttempts = 2)
		public @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	@LlmRetry(maxAttempts = 3)
	static class OnClassOverMethodApi implements MethodApi {

		private final Body body;

		OnClassOverMethodApi(Body body) {
			this.body = body;
		}

		@Override
		public @Nullable String ask(String question) {
			return this.body.run();
		}

	}

	@LlmRetry(maxAttempts = 3)
	static class OnClassOverTypeApi extends Plain implements TypeApi {

		OnClassOverTypeApi(Body body) {
			super(body);
		}

	}

	@LlmRetry
	static class WithObjectMethods implements Api {

		static final AtomicInteger attempts = new AtomicInteger();

		WithObjectMethods() {
			attempts.set(0);
		}

		@Override
		public @Nullable String ask(String question) {
			return null;
		}

		@Override
		public String toString() {
			return fail(attempts);
		}

		@Override
		public int hashCode() {
			return 1;
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other == this;
		}

	}

	static class CallsItself {

		private final Body body;

		CallsItself(Body body) {
			this.body = body;
		}

		public String outer() {
			return inner();
		}

		@LlmRetry
		public String inner() {
			return this.body.run();
		}

	}

	static class Narrow {

		private final Body body;

		Narrow(Body body) {
			this.body = body;
		}

		@LlmRetry
		String packagePrivate() {
			return this.body.run();
		}

		@LlmRetry
		protected String protectedOne() {
			return this.body.run();
		}

	}

	static class FinalMethod extends Plain {

		FinalMethod(Body body) {
			super(body);
		}

		@Override
		@LlmRetry
		public final @Nullable String ask(String question) {
			return super.ask(question);
		}

	}

	@LlmRetry(fallbackMethod = "fallback")
	static class ClassWithFallback implements Api {

		private final List<String> seen = new ArrayList<>();

		@Override
		public @Nullable String ask(String question) {
			remember(question, this.seen.size());
			throw new UncheckedIOException(new ConnectException("refused"));
		}

		private void remember(String question, int index) {
			this.seen.add(index, question);
		}

		String fallback(String question) {
			return "fallback for " + question;
		}

	}

	static class OnPrivateMethod implements Api {

		@Override
		public @Nullable String ask(String question) {
			return hidden(question);
		}

		@LlmRetry
		private @Nullable String hidden(String question) {
			return question;
		}

	}

	interface Client {

		@Nullable String ask();

	}

	@HttpExchange
	interface AnnotatedMethodClient extends Client {

		@Override
		@LlmRetry
		@GetExchange("/")
		@Nullable String ask();

	}

	@HttpExchange
	@LlmRetry
	interface AnnotatedTypeClient extends Client {

		@Override
		@GetExchange("/")
		@Nullable String ask();

	}

	@HttpExchange
	interface ComposedClient extends Client {

		@Override
		@Composed
		@GetExchange("/")
		@Nullable String ask();

	}

	interface BaseClient extends Client {

		@Override
		@GetExchange("/")
		@Nullable String ask();

	}

	@LlmRetry
	interface SubClient extends BaseClient {

	}

	public interface ClientWithFallback extends Client {

		@Override
		@LlmRetry(fallbackMethod = "recover")
		@GetExchange("/")
		@Nullable String ask();

		default @Nullable String recover(Throwable failure) {
			return failure.getClass().getSimpleName();
		}

	}

	static class OnFuture {

		@LlmRetry
		public Future<String> ask(String question) {
			return CompletableFuture.completedFuture(question);
		}

	}

}
