package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.time.TimeSource.Waiter;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.HttpClientErrorException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Closing an application ends whatever its calls wait for, in every shape of call, within
 * a second and with an exception that says why. No thread is left behind.
 */
class ShutdownOfWaitsTests {

	private static final Duration SOON = Duration.ofSeconds(1);

	private static final String ENTRY = "llm.resilience.providers.default.";

	private final Set<Thread> before = Thread.getAllStackTraces().keySet();

	private final CountDownLatch released = new CountDownLatch(1);

	@AfterEach
	void release() {
		this.released.countDown();
	}

	/** What calls wait for. */
	enum Wait {

		THE_NEXT_ATTEMPT(TimeoutException.class), A_SLOT_OF_THE_LIMITER(null), AN_OPEN_BREAKER(null), AN_ANSWER(null),

		MORE_OF_A_STREAM(null);

		private final @Nullable Class<? extends Throwable> cause;

		Wait(@Nullable Class<? extends Throwable> cause) {
			this.cause = cause;
		}

		void configure(Starts starts) {
			switch (this) {
				case THE_NEXT_ATTEMPT -> starts.with(ENTRY + "retry.base-delay", "1h")
					.with(ENTRY + "retry.max-delay", "1h")
					.with(ENTRY + "retry.jitter", "none");
				case A_SLOT_OF_THE_LIMITER -> starts.with(ENTRY + "limiter.requests-per-minute", "0.01");
				case AN_OPEN_BREAKER -> starts.with(ENTRY + "retry.on-open", "wait");
				case AN_ANSWER, MORE_OF_A_STREAM -> {
				}
			}
		}

		/** Sees to it that the next call has to wait. */
		void prepare(ConfigurableApplicationContext context) {
			if (this == A_SLOT_OF_THE_LIMITER) {
				RateLimiter limiter = context.getBean("defaultRateLimiter", RateLimiter.class);
				assertThat(limiter.tryAcquire(new Permit(this, Priority.NORMAL, 0, false, 0), System.nanoTime()))
					.isTrue();
			}
			else if (this == AN_OPEN_BREAKER) {
				context.getBean("defaultCircuitBreaker", CircuitBreaker.class).forceOpen();
			}
		}

		boolean mayRun() {
			return this == THE_NEXT_ATTEMPT || this == AN_ANSWER || this == MORE_OF_A_STREAM;
		}

	}

	/** The ways to make a call. */
	enum Shape {

		BLOCKING, WORKER, FUTURE, MONO, FLUX;

		boolean canWaitFor(Wait wait) {
			return switch (wait) {
				case AN_ANSWER -> this != BLOCKING;
				case MORE_OF_A_STREAM -> this == FLUX;
				default -> true;
			};
		}

		/** Makes a call, and returns once it waits. */
		CompletableFuture<?> start(ConfigurableApplicationContext context, Wait wait) {
			LlmResilience blocking = context.getBean(LlmResilience.class);
			ReactiveLlmResilience reactive = context.getBean(ReactiveLlmResilience.class);
			return switch (this) {
				case BLOCKING, WORKER -> onThread(() -> blocking.call("default", () -> {
					check(wait);
					return never();
				}));
				case FUTURE -> blocking.callAsync("default", () -> {
					if (wait == Wait.THE_NEXT_ATTEMPT) {
						return CompletableFuture.failedFuture(new TimeoutException("too slow"));
					}
					check(wait);
					return new CompletableFuture<>();
				});
				case MONO -> reactive.mono("default", () -> Mono.defer(() -> {
					check(wait);
					return Mono.never();
				})).toFuture();
				case FLUX -> reactive.flux("default", () -> Flux.defer(() -> {
					check(wait);
					return (wait == Wait.MORE_OF_A_STREAM) ? Flux.just("word").concatWith(Flux.never()) : Flux.never();
				})).then().toFuture();
			};
		}

		private static void check(Wait wait) {
			if (wait == Wait.THE_NEXT_ATTEMPT) {
				sneak(new TimeoutException("too slow"));
			}
			assertThat(wait.mayRun()).as("let out").isTrue();
		}

	}

	static Stream<Arguments> waits() {
		return Stream.of(Shape.values())
			.flatMap((shape) -> Stream.of(Wait.values())
				.filter(shape::canWaitFor)
				.map((wait) -> Arguments.of(shape, wait)));
	}

	@ParameterizedTest(name = "{0} waits for {1}")
	@MethodSource("waits")
	void endsWithinASecond(Shape shape, Wait wait) {
		Starts starts = new Starts().with(ENTRY + "retry.timeout", "100d")
			.with(ENTRY + "retry.attempt-timeout", "1d")
			.with(ENTRY + "retry.attempt-thread", (shape == Shape.WORKER) ? "worker" : "caller");
		wait.configure(starts);
		CompletableFuture<?> call;
		try (ConfigurableApplicationContext context = starts.run()) {
			wait.prepare(context);
			call = shape.start(context, wait);
			if (wait == Wait.THE_NEXT_ATTEMPT) {
				RetryBudget budget = context.getBean("defaultRetryBudget", RetryBudget.class);
				Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> budget.tokens() < 50);
			}
			assertThat(call).isNotDone();
		}
		Throwable end = end(call);
		assertThat(end).isInstanceOf(ShutdownException.class).hasMessageContaining("'default'");
		if (wait.cause != null) {
			assertThat(end).hasCauseInstanceOf(wait.cause);
		}
		assertThat(LlmCallReport.find(end)).isNotNull();
		assertThatNoThreadStays();
	}

	@Test
	void anAttemptOnAWorkerThatDoesNotHeedInterruptsKeepsNobody() {
		CompletableFuture<?> call;
		try (ConfigurableApplicationContext context = new Starts().with(ENTRY + "retry.attempt-thread", "worker")
			.run()) {
			LlmResilience resilience = context.getBean(LlmResilience.class);
			call = onThread(() -> resilience.call("default", () -> {
				while (this.released.getCount() > 0) {
					try {
						this.released.await();
					}
					catch (InterruptedException ex) {
						// As a read from a socket does.
					}
				}
				return "late";
			}));
		}
		assertThat(end(call)).isInstanceOf(ShutdownException.class);
		this.released.countDown();
		assertThatNoThreadStays();
	}

	/* Equal calls. */

	/** How a call that others follow is made. */
	enum Followed {

		BLOCKING {
			@Override
			CompletableFuture<?> start(Shared shared) {
				return onThread(() -> shared.plain("q"));
			}
		},

		FUTURE {
			@Override
			CompletableFuture<?> start(Shared shared) {
				return shared.future("q");
			}
		},

		MONO {
			@Override
			CompletableFuture<?> start(Shared shared) {
				return shared.mono("q").toFuture();
			}
		};

		abstract CompletableFuture<?> start(Shared shared);

	}

	@ParameterizedTest
	@EnumSource
	void thoseWhoFollowAnEqualCallEndWithItsLeader(Followed shape) {
		List<CompletableFuture<?>> calls = new ArrayList<>();
		AtomicInteger runs;
		try (ConfigurableApplicationContext context = new Starts().with(Shared.class)
			.with(ENTRY + "retry.attempt-thread", "worker")
			.run()) {
			Shared shared = context.getBean(Shared.class);
			runs = shared.runs();
			for (int i = 0; i < 5; i++) {
				calls.add(shape.start(shared));
			}
			Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> runs.get() == 1);
			assertThat(calls).noneMatch(CompletableFuture::isDone);
		}
		assertThat(calls).allSatisfy((call) -> assertThat(end(call)).isInstanceOf(ShutdownException.class));
		assertThat(runs).hasValue(1);
		assertThatNoThreadStays();
	}

	/* Tools. */

	@Test
	void aToolThatWaitsForItsNextRunEndsWithTheFailureAsTheCause() {
		CompletableFuture<?> call;
		try (ConfigurableApplicationContext context = new Starts().with(Tool.class).run()) {
			Tool tool = context.getBean(Tool.class);
			call = onThread(tool::run);
		}
		assertThat(end(call)).isInstanceOf(ShutdownException.class).hasCauseInstanceOf(HttpClientErrorException.class);
		assertThatNoThreadStays();
	}

	/** Runs a call on a thread of its own, and returns once that waits. */
	private static CompletableFuture<Object> onThread(Callable<?> call) {
		CompletableFuture<Object> outcome = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				outcome.complete(call.call());
			}
			catch (Throwable ex) {
				outcome.completeExceptionally(ex);
			}
		}, "caller");
		thread.start();
		Awaitility.await()
			.pollInterval(Duration.ofMillis(5))
			.until(() -> LockSupport.getBlocker(thread) instanceof Waiter || outcome.isDone());
		return outcome;
	}

	private static Throwable end(CompletableFuture<?> call) {
		Throwable thrown = catchThrowable(() -> call.orTimeout(SOON.toMillis(), TimeUnit.MILLISECONDS).join());
		assertThat(thrown).isInstanceOf(CompletionException.class);
		return Objects.requireNonNull(thrown.getCause());
	}

	private void assertThatNoThreadStays() {
		Awaitility.await()
			.pollInterval(Duration.ofMillis(10))
			.atMost(SOON)
			.pollInSameThread()
			.untilAsserted(
					() -> assertThat(Thread.getAllStackTraces().keySet().stream().filter(this::isNew)).isEmpty());
	}

	/**
	 * Those that carry virtual threads, and serve clocks of the platform, are its own.
	 */
	private boolean isNew(Thread thread) {
		return !this.before.contains(thread) && !thread.getClass().getName().startsWith("jdk.internal")
				&& !thread.getName().startsWith("CompletableFuture")
				&& !thread.getName().startsWith("ForkJoinPool.commonPool");
	}

	private static Object never() throws InterruptedException {
		new CountDownLatch(1).await();
		return "never";
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void sneak(Throwable thrown) throws E {
		throw (E) thrown;
	}

	static class Shared {

		private final AtomicInteger runs = new AtomicInteger();

		AtomicInteger runs() {
			return this.runs;
		}

		@LlmRetry(deduplicate = "#question")
		public Object plain(String question) throws InterruptedException {
			this.runs.incrementAndGet();
			return never();
		}

		@LlmRetry(deduplicate = "#question")
		public CompletableFuture<Object> future(String question) {
			this.runs.incrementAndGet();
			return new CompletableFuture<>();
		}

		@LlmRetry(deduplicate = "#question")
		public Mono<Object> mono(String question) {
			this.runs.incrementAndGet();
			return Mono.never();
		}

	}

	static class Tool implements RecoveryStrategy {

		@LlmRetry(recovery = "shutdownOfWaitsTests.Tool")
		public String run() {
			HttpHeaders headers = new HttpHeaders();
			headers.set("Retry-After", "20");
			throw HttpClientErrorException.create(HttpStatus.TOO_MANY_REQUESTS, "slow down", headers, new byte[0],
					null);
		}

		@Override
		public Recovery recover(FailedRun run) {
			return Recovery.retry();
		}

	}

}
