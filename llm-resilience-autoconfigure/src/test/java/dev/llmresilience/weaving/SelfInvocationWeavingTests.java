package dev.llmresilience.weaving;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.breaker.CircuitBreaker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.SmartLifecycle;

import static dev.llmresilience.weaving.Attempts.PROTECTED;
import static dev.llmresilience.weaving.Attempts.UNPROTECTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a bean calls on itself, and which application it is a call of.
 */
@Tag("weaving")
@ExtendWith(OutputCaptureExtension.class)
class SelfInvocationWeavingTests {

	private static final String RETRY = "llm.resilience.providers.default.retry.";

	private final ApplicationContextRunner runner = Attempts.runner().withBean(Chat.class, Chat::new);

	@Test
	void aCallIsRetriedAndFailsWithItsOwnException() {
		this.runner.run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatExceptionOfType(java.io.UncheckedIOException.class).isThrownBy(chat::callAsk)
				.satisfies((ex) -> assertThat(LlmCallReport.find(ex)).isNotNull());
			assertThat(chat.attempts().count()).isEqualTo(PROTECTED);
			assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
		});
	}

	@Test
	void aCallThatSucceedsAtLastReturnsItsResult() {
		this.runner.run((context) -> assertThat(context.getBean(Chat.class).callThird("why")).isEqualTo("why 3"));
	}

	@Test
	void aFutureIsRetried() {
		this.runner.run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThat(chat.callLater()).failsWithin(java.time.Duration.ofSeconds(10));
			assertThat(chat.attempts().count()).isEqualTo(PROTECTED);
			assertThat(Attempts.advised(context)).isEqualTo(PROTECTED);
		});
	}

	@Test
	void aPublisherIsRetriedForEachSubscriber() {
		this.runner.run((context) -> {
			Chat chat = context.getBean(Chat.class);
			Mono<String> mono = chat.callMono();
			assertThat(chat.attempts().count()).isZero();
			assertThatException().isThrownBy(mono::block);
			assertThatException().isThrownBy(() -> chat.callFlux().blockLast());
			assertThat(chat.attempts().count()).isEqualTo(2 * PROTECTED);
			assertThat(Attempts.advised(context)).isEqualTo(2 * PROTECTED);
		});
	}

	@Test
	void anAttemptMayRunOnAWorker() {
		this.runner.withPropertyValues(RETRY + "attempt-thread=worker").run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatException().isThrownBy(chat::callAsk);
			assertThat(chat.attempts().count()).isEqualTo(PROTECTED);
			assertThat(chat.thread()).isNotNull().isNotEqualTo(Thread.currentThread());
		});
	}

	@Test
	void anotherProviderTakesOver() {
		this.runner
			.withPropertyValues("llm.resilience.providers.other.type=generic", RETRY + "max-attempts=1",
					RETRY + "failover=other")
			.run((context) -> assertThat(context.getBean(Chat.class).callProvider()).isEqualTo("other"));
	}

	@Test
	void theFallbackOfAClassIsNoCallOfItsOwn() {
		this.runner.run((context) -> {
			context.getBean("defaultCircuitBreaker", CircuitBreaker.class).forceOpen();
			assertThat(new WithFallback().ask()).isEqualTo("fallback");
		});
	}

	@Test
	void whatReadsTheKeyIsNoCallOfItsOwn() {
		this.runner.run((context) -> {
			WithKey chat = new WithKey();
			assertThat(chat.ask()).isEqualTo("answer");
			assertThat(chat.tenants).hasValue(1);
		});
	}

	@Test
	void itIsNoCallBeforeTheApplicationIsReady() {
		Attempts.runner().withBean(Early.class, Early::new).run((context) -> {
			Early early = context.getBean(Early.class);
			assertThat(early.attempts().count()).isEqualTo(UNPROTECTED);
			assertThatException().isThrownBy(early::afterPropertiesSet);
			assertThat(early.attempts().count()).isEqualTo(UNPROTECTED + PROTECTED);
		});
	}

	@Test
	void itIsNoCallAfterTheApplicationIsClosed() {
		Chat chat = new Chat();
		this.runner.run((context) -> context.close());
		assertThatException().isThrownBy(chat::callAsk);
		assertThat(chat.attempts().count()).isEqualTo(UNPROTECTED);
	}

	@Test
	void itIsNoCallOfAnApplicationThatDidNotStart() {
		this.runner.withBean(FailsToStart.class, FailsToStart::new).run((context) -> assertThat(context).hasFailed());
		Chat chat = new Chat();
		assertThatException().isThrownBy(chat::callAsk);
		assertThat(chat.attempts().count()).isEqualTo(UNPROTECTED);
	}

	@Test
	void itIsNoCallWhereNoneIsProtected() {
		this.runner.withPropertyValues("llm.resilience.enabled=false").run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatException().isThrownBy(chat::callAsk);
			assertThat(chat.attempts().count()).isEqualTo(UNPROTECTED);
		});
	}

	@Test
	void ofSeveralApplicationsTheOneThatStartedLastHasIt() {
		this.runner.withPropertyValues(RETRY + "max-attempts=2").run((first) -> {
			assertThat(attempts()).isEqualTo(2);
			this.runner.withPropertyValues(RETRY + "max-attempts=3").run((second) -> {
				assertThat(attempts()).isEqualTo(3);
				this.runner.withPropertyValues(RETRY + "max-attempts=5").run((third) -> {
					assertThat(attempts()).isEqualTo(5);
					second.close();
					assertThat(attempts()).isEqualTo(5);
				});
				assertThat(attempts()).isEqualTo(2);
			});
		});
		assertThat(attempts()).isEqualTo(UNPROTECTED);
	}

	@Test
	void nobodyIsToldThatTheAnnotationDoesNothing(CapturedOutput output) {
		this.runner.withBean(OnPrivate.class, OnPrivate::new).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("does nothing");
		});
		this.runner.withPropertyValues("spring.aop.auto=false").run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatException().isThrownBy(chat::ask);
			assertThat(chat.attempts().count()).isEqualTo(PROTECTED);
			assertThat(output).doesNotContain("does nothing");
		});
	}

	private static int attempts() {
		Chat chat = new Chat();
		assertThatException().isThrownBy(chat::callAsk);
		return chat.attempts().count();
	}

	static class Chat {

		private final Attempts attempts = new Attempts();

		private volatile Thread thread = Thread.currentThread();

		Attempts attempts() {
			return this.attempts;
		}

		Thread thread() {
			return this.thread;
		}

		String callAsk() {
			return ask();
		}

		@LlmRetry
		String ask() {
			this.thread = Thread.currentThread();
			return this.attempts.fail();
		}

		String callThird(String question) {
			return third(question);
		}

		@LlmRetry
		private String third(String question) {
			try {
				return this.attempts.fail();
			}
			catch (RuntimeException ex) {
				if (this.attempts.count() < 3) {
					throw ex;
				}
				return question + " " + this.attempts.count();
			}
		}

		CompletableFuture<String> callLater() {
			return later();
		}

		@LlmRetry
		CompletableFuture<String> later() {
			return Mono.fromCallable(this.attempts::fail).toFuture();
		}

		Mono<String> callMono() {
			return mono();
		}

		@LlmRetry
		Mono<String> mono() {
			return Mono.fromCallable(this.attempts::fail);
		}

		Flux<String> callFlux() {
			return flux();
		}

		@LlmRetry
		Flux<String> flux() {
			return Flux.defer(() -> Mono.fromCallable(this.attempts::fail));
		}

		String callProvider() {
			return provider();
		}

		@LlmRetry
		String provider() {
			LlmCall call = LlmCall.current();
			assertThat(call).isNotNull();
			String provider = (call != null) ? call.provider() : "none";
			return provider.equals("default") ? this.attempts.fail() : provider;
		}

	}

	@LlmRetry(fallbackMethod = "fallback")
	static class WithFallback {

		String ask() {
			return "answer";
		}

		String fallback() {
			return "fallback";
		}

	}

	@LlmRetry(key = "tenant()")
	static class WithKey {

		final AtomicInteger tenants = new AtomicInteger();

		public String ask() {
			return "answer";
		}

		public String tenant() {
			return "tenant " + this.tenants.incrementAndGet();
		}

	}

	static class OnPrivate {

		@LlmRetry
		@SuppressWarnings("UnusedMethod")
		private void hidden() {
		}

	}

	static class Early implements InitializingBean {

		private final Attempts attempts = new Attempts();

		Attempts attempts() {
			return this.attempts;
		}

		@Override
		public void afterPropertiesSet() {
			try {
				ask();
			}
			catch (RuntimeException ex) {
				if (this.attempts.count() > UNPROTECTED) {
					throw ex;
				}
			}
		}

		@LlmRetry
		void ask() {
			this.attempts.fail();
		}

	}

	static class FailsToStart implements SmartLifecycle {

		@Override
		public void start() {
			throw new IllegalStateException("start");
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

	}

}
