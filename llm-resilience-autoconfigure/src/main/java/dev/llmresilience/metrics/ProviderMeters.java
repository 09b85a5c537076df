package dev.llmresilience.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.CallMonitor;
import dev.llmresilience.engine.Provider;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one provider entry. Each is looked up in the registry once: those of a
 * tag with many values when a value comes first, the others at the beginning.
 * Thread-safe.
 */
final class ProviderMeters implements CallMonitor {

	private static final String SUCCESS = "SUCCESS";

	private final MeterRegistry registry;

	private final Tags tags;

	private final Map<String, Meter> meters = new ConcurrentHashMap<>();

	private final Timer succeeded;

	private final Counter successes;

	private final Map<GiveUpReason, Timer> givenUp = new ConcurrentHashMap<>();

	private final Map<FailureKind, Counter> failures = new ConcurrentHashMap<>();

	private final Map<WaitCause, Timer> retryWaits = new ConcurrentHashMap<>();

	private final Map<String, Counter> failovers = new ConcurrentHashMap<>();

	private final Map<Intervention, Counter> observed = new ConcurrentHashMap<>();

	private final Counter retryTokens;

	private final Timer limiterWait;

	private final Counter breakerRejected;

	private final Counter deduplicated;

	ProviderMeters(Provider provider, MeterRegistry registry) {
		this.registry = registry;
		this.tags = Tags.of("provider", provider.name());
		try {
			this.succeeded = calls(SUCCESS);
			this.successes = attempts(SUCCESS);
			this.limiterWait = timer("llm.limiter.wait", "Waits of calls that had to queue at the limiter");
			this.retryTokens = counter("llm.retry.tokens", "Tokens estimated to be sent again");
			this.breakerRejected = counter("llm.breaker.rejected", "Calls that the open circuit breaker ended");
			this.deduplicated = counter("llm.deduplicated", "Calls that shared an equal one under way");
			limiterGauges(provider);
			guardGauges(provider);
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	private void limiterGauges(Provider provider) {
		gauge("llm.limiter.waiting", "Calls that queue at the limiter", this.tags, provider,
				(entry) -> entry.limiter().waiting());
		for (Dimension dimension : Dimension.values()) {
			gauge("llm.limiter.rate", "Present limit a minute, NaN while there is none",
					this.tags.and("dimension", dimension.name()), provider, (entry) -> rate(entry, dimension));
		}
	}

	private static double rate(Provider provider, Dimension dimension) {
		Double rate = provider.limiter().perMinute(dimension);
		return (rate != null) ? rate : Double.NaN;
	}

	private void guardGauges(Provider provider) {
		gauge("llm.quota.latched", "1 while calls are refused because a quota is exhausted", this.tags, provider,
				(entry) -> (entry.latched() != null) ? 1 : 0);
		RetryBudget budget = provider.budget();
		if (budget != null) {
			gauge("llm.budget.tokens", "Retries that the budget would pay for now", this.tags, budget,
					RetryBudget::tokens);
		}
		CircuitBreaker breaker = provider.breaker();
		if (breaker != null) {
			for (BreakerState state : BreakerState.values()) {
				gauge("llm.breaker.state", "1 for the state that the circuit breaker is in",
						this.tags.and("state", state.name()), breaker, (subject) -> (subject.state() == state) ? 1 : 0);
			}
		}
	}

	private <S> void gauge(String name, String description, Tags tags, S subject, ToDoubleFunction<S> value) {
		keep(Gauge.builder(name, subject, value).description(description).tags(tags).register(this.registry));
	}

	private Counter counter(String name, String description, String... tags) {
		return keep(Counter.builder(name).description(description).tags(this.tags.and(tags)).register(this.registry));
	}

	private Timer timer(String name, String description, String... tags) {
		return keep(Timer.builder(name).description(description).tags(this.tags.and(tags)).register(this.registry));
	}

	private <M extends Meter> M keep(M meter) {
		this.meters.put(meter.getId().toString(), meter);
		return meter;
	}

	private Counter attempts(String kind) {
		return counter("llm.attempts", "Attempts, by what became of them", "kind", kind);
	}

	private Timer calls(String outcome) {
		return timer("llm.calls", "Calls, waits included", "outcome", outcome);
	}

	private Timer retryWait(WaitCause cause) {
		return this.retryWaits.computeIfAbsent(cause,
				(key) -> timer("llm.retry.wait", "Waits before retries, and for the breaker", "cause", key.name()));
	}

	@Override
	public void attemptEnded(@Nullable FailureKind kind) {
		// Not read from the timer of calls that succeeded: one that is exported by steps
		// tells what came in the last of them.
		Counter counter = (kind == null) ? this.successes
				: this.failures.computeIfAbsent(kind, (key) -> attempts(key.name()));
		counter.increment();
	}

	@Override
	public void limiterWaited(long nanos) {
		this.limiterWait.record(nanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void retries(WaitCause cause, long nanos, long tokens) {
		retryWait(cause).record(nanos, TimeUnit.NANOSECONDS);
		if (tokens > 0) {
			this.retryTokens.increment((double) tokens);
		}
	}

	@Override
	public void breakerWaited(long nanos) {
		retryWait(WaitCause.BREAKER).record(nanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void ended(@Nullable GiveUpReason reason, long nanos) {
		Timer timer = (reason == null) ? this.succeeded
				: this.givenUp.computeIfAbsent(reason, (key) -> calls(key.name()));
		timer.record(nanos, TimeUnit.NANOSECONDS);
		if (reason == GiveUpReason.BREAKER) {
			this.breakerRejected.increment();
		}
	}

	@Override
	public void failedOver(String target) {
		this.failovers
			.computeIfAbsent(target,
					(key) -> counter("llm.failovers", "Calls that another provider entry took over", "target", key))
			.increment();
	}

	@Override
	public void observed(Intervention intervention) {
		this.observed
			.computeIfAbsent(intervention,
					(key) -> counter("llm.observed", "Calls to which something would have been done, in mode observe",
							"intervention", key.name()))
			.increment();
	}

	@Override
	public void deduplicated() {
		this.deduplicated.increment();
	}

	void close() {
		this.meters.values().forEach(this.registry::remove);
	}

}
