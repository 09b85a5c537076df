package dev.llmresilience.aop;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Where the advice stands among others.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdviceOrderTests {

	private static final String WARNING = "A transaction is open while";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.default.retry.base-delay=1ms");

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void eachAttemptHasATransactionOfItsOwn(boolean aspectj) {
		withOrWithoutAspectj(aspectj).withUserConfiguration(Transactions.class).run((context) -> {
			assertThat(context.getBean(Writer.class).write(2)).isEqualTo(3);
			assertThat(context.getBean(RecordingTransactions.class).events()).containsExactly("begin", "attempt",
					"rollback", "begin", "attempt", "rollback", "begin", "attempt", "commit");
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aTransactionOfItsOwnIsNoReasonToWarn(boolean aspectj, CapturedOutput output) {
		withOrWithoutAspectj(aspectj).withUserConfiguration(Transactions.class).run((context) -> {
			context.getBean(Writer.class).write(1);
			assertThat(output).doesNotContain(WARNING);
		});
	}

	@Test
	void aTransactionThatTheCallerHoldsIsWarnedOfOncePerMethod(CapturedOutput output) {
		this.runner.withUserConfiguration(Transactions.class).run((context) -> {
			TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			Writer writer = context.getBean(Writer.class);
			for (int i = 0; i < 3; i++) {
				template.executeWithoutResult((status) -> writer.write(0));
				template.executeWithoutResult((status) -> writer.read());
			}
			assertThat(output.getOut().lines().filter((line) -> line.contains(WARNING))).hasSize(2)
				.anySatisfy((line) -> assertThat(line).contains("WARN").contains("Writer.write").contains("'default'"))
				.anySatisfy((line) -> assertThat(line).contains("WARN").contains("Writer.read"));
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCacheIsInsideUnlessToldOtherwise(boolean aspectj) {
		withOrWithoutAspectj(aspectj).withUserConfiguration(CacheInside.class, Caches.class).run((context) -> {
			Cached cached = context.getBean(Cached.class);
			assertThat(cached.answer("a")).isEqualTo("a 3");
			assertThat(cached.answer("a")).isEqualTo("a 3");
			assertThat(advice(cached)).containsExactly("LlmRetryAspect", "CacheInterceptor");
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCacheWithALowerOrderIsOutsideSoThatHitsDoNotReachTheGuards(boolean aspectj) {
		withOrWithoutAspectj(aspectj).withUserConfiguration(CacheOutside.class, Caches.class)
			.withPropertyValues("llm.resilience.providers.default.limiter.requests-per-minute=1",
					"llm.resilience.providers.default.limiter.burst=3",
					"llm.resilience.providers.default.limiter.max-wait=0s")
			.run((context) -> {
				Cached cached = context.getBean(Cached.class);
				assertThat(cached.answer("a")).isEqualTo("a 3");
				assertThat(cached.answer("a")).isEqualTo("a 3");
				assertThat(advice(cached)).containsExactly("CacheInterceptor", "LlmRetryAspect");
			});
	}

	@Test
	void hitsOfACacheInsideTakeTheirTurn() {
		this.runner.withUserConfiguration(CacheInside.class, Caches.class)
			.withPropertyValues("llm.resilience.providers.default.limiter.requests-per-minute=1",
					"llm.resilience.providers.default.limiter.burst=3",
					"llm.resilience.providers.default.limiter.max-wait=0s")
			.run((context) -> {
				Cached cached = context.getBean(Cached.class);
				assertThat(cached.answer("a")).isEqualTo("a 3");
				assertThatException().isThrownBy(() -> cached.answer("a"));
			});
	}

	@Test
	void theOrderIsAProperty() {
		this.runner.withUserConfiguration(CacheInside.class, Caches.class)
			.withPropertyValues("llm.resilience.aspect.order=" + Ordered.LOWEST_PRECEDENCE)
			.run((context) -> assertThat(((Ordered) context.getBean("llmRetryAdvisor")).getOrder())
				.isEqualTo(Ordered.LOWEST_PRECEDENCE));
		this.runner.withUserConfiguration(CacheOutside.class, Caches.class)
			.withPropertyValues("llm.resilience.aspect.order=" + (Ordered.LOWEST_PRECEDENCE - 1000))
			.run((context) -> assertThat(advice(context.getBean(Cached.class))).containsExactly("LlmRetryAspect",
					"CacheInterceptor"));
	}

	@Test
	void theOrderIsAHundredBelowTheLowestUnlessSet() {
		this.runner.run((context) -> assertThat(((Ordered) context.getBean("llmRetryAdvisor")).getOrder())
			.isEqualTo(Ordered.LOWEST_PRECEDENCE - 100));
	}

	@Test
	void anApplicationWithoutAProxyCreatorIsToldSo(CapturedOutput output) {
		this.runner.withPropertyValues("spring.aop.auto=false")
			.withBean("lonely", Lonely.class, Lonely::new)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output.getOut().lines().filter((line) -> line.contains("@LlmRetry does nothing"))).hasSize(1)
					.allSatisfy((line) -> assertThat(line).contains("WARN").contains("[lonely]"));
			});
	}

	@Test
	void anApplicationThatCreatesProxiesIsNotToldAnything(CapturedOutput output) {
		this.runner.withBean("lonely", Lonely.class, Lonely::new)
			.run((context) -> assertThat(output).doesNotContain("@LlmRetry does nothing")
				.doesNotContain("is not eligible for getting processed by all BeanPostProcessors"));
	}

	private ApplicationContextRunner withOrWithoutAspectj(boolean aspectj) {
		return aspectj ? this.runner : this.runner.withClassLoader(new FilteredClassLoader("org.aspectj"));
	}

	private static List<String> advice(Object proxy) {
		List<String> names = new ArrayList<>();
		for (Advisor advisor : ((Advised) proxy).getAdvisors()) {
			names.add(advisor.getAdvice().getClass().getSimpleName());
		}
		names.remove("");
		return names;
	}

	private static UncheckedIOException refused() {
		return new UncheckedIOException(new ConnectException("refused"));
	}

	static class Lonely {

		@LlmRetry
		public void call() {
		}

	}

	public static class Writer {

		private final RecordingTransactions transactions;

		private int attempts;

		public Writer(RecordingTransactions transactions) {
			this.transactions = transactions;
		}

		@LlmRetry
		@Transactional
		public int write(int failures) {
			this.transactions.events().add("attempt");
			if (++this.attempts <= failures) {
				throw refused();
			}
			return this.attempts;
		}

		@LlmRetry
		public int read() {
			return this.attempts;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

		@Bean
		RecordingTransactions transactionManager() {
			return new RecordingTransactions();
		}

		@Bean
		Writer writer(RecordingTransactions transactions) {
			return new Writer(transactions);
		}

	}

	public static class Cached {

		private final AtomicInteger attempts = new AtomicInteger();

		@LlmRetry
		@Cacheable("answers")
		public @Nullable String answer(String question) {
			if (this.attempts.incrementAndGet() < 3) {
				throw refused();
			}
			return question + " " + this.attempts;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Caches {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

		@Bean
		Cached cached() {
			return new Cached();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class CacheInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(order = Ordered.LOWEST_PRECEDENCE - 200)
	static class CacheOutside {

	}

}
