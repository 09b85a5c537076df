package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.Objects;

import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.test.SettableTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ProvidersTests {

	private final List<ProviderSettings> settings = new ArrayList<>();

	@Test
	void eachEntryHasALimiterOfItsOwn() {
		Providers providers = with("a", null, 1).with("b", null, 1).providers();
		assertThat(providers.limiter("a")).isNotSameAs(providers.limiter("b"));
	}

	@Test
	void anEntryUsesTheLimiterThatItSharesWhicheverComesFirst() {
		Providers providers = with("a", "b", 1).with("b", null, 2).with("c", "b", 3).providers();
		assertThat(providers.limiter("a")).isSameAs(providers.limiter("b")).isSameAs(providers.limiter("c"));
		assertThat(providers.limiter("a").level()).as("that of the other").isEqualTo(2);
		assertThat(providers.get("a").breaker()).isNotSameAs(providers.get("b").breaker());
		assertThat(providers.get("a").budget()).isNotSameAs(providers.get("b").budget());
	}

	@Test
	void aKeyHasALimiterOfItsOwnUnderTheSettingsOfTheLimiterThatItsEntryUses() {
		Providers providers = with("a", "b", 1).with("b", null, 2).providers();
		KeyedProvider keyed = Objects.requireNonNull(providers.keyed("a").lease("tenant"));
		assertThat(keyed.provider().limiter()).isNotSameAs(providers.limiter("b"));
		assertThat(keyed.provider().limiter().level()).as("the burst of the owner").isEqualTo(2);
	}

	@Test
	void theRateOfASharedLimiterIsThatOfTheKeysOfAllWhoShareIt() {
		Providers providers = with("a", "b", 1).with("b", null, 2).providers();
		KeyedProvider keyed = Objects.requireNonNull(providers.keyed("a").lease("tenant"));
		providers.setRequestsPerMinute("b", 120);
		assertThat(keyed.provider().limiter().requestsPerMinute()).isEqualTo(120);
	}

	@ParameterizedTest
	@CsvSource({ "c, there is none", "a, it shares that of another", "b, it is the entry itself" })
	void toShareALimiterThatAnEntryDoesNotHaveIsRefused(String other, String because) {
		with("x", null, 1).with("a", "x", 1).with("b", other, 1);
		assertThatIllegalArgumentException().as(because)
			.isThrownBy(this::providers)
			.withMessage("'b' shares the limiter of '" + other + "', which has none of its own");
	}

	@Test
	void theRateOfAnUnknownEntryCannotBeSet() {
		Providers providers = with("a", null, 1).providers();
		assertThatIllegalArgumentException().isThrownBy(() -> providers.setRequestsPerMinute("b", 60))
			.withMessageContaining("No provider 'b'")
			.withMessageContaining("[a]");
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, -1, Double.NaN, Double.POSITIVE_INFINITY })
	void aRateThatIsNoneCannotBeSet(double rate) {
		Providers providers = with("a", null, 1).providers();
		assertThatIllegalArgumentException().isThrownBy(() -> providers.setRequestsPerMinute("a", rate))
			.withMessageContaining(String.valueOf(rate));
	}

	@Test
	void keysOfAnUnknownEntryCannotBeHad() {
		Providers providers = with("a", null, 1).providers();
		assertThatIllegalArgumentException().isThrownBy(() -> providers.keyed("b"))
			.withMessageContaining("No provider 'b'");
	}

	private ProvidersTests with(String name, @Nullable String sharedWith, int burst) {
		ProviderSettings defaults = ProviderSettings.defaults(name);
		this.settings.add(new ProviderSettings(name, defaults.type(), name, List.of(), defaults.policy(),
				CallSettings.DEFAULTS, LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0, burst),
				sharedWith, defaults.budget(), defaults.breaker(), defaults.quotaCoolDown()));
		return this;
	}

	private Providers providers() {
		return new Providers(this.settings, new SettableTime(), GuardListener.NONE);
	}

	@Test
	void theMonitorOfAnEntryIsMadeOnceHoweverManyThreadsAsk() throws Exception {
		AtomicInteger made = new AtomicInteger();
		Provider provider = new Providers(List.of(ProviderSettings.defaults("p")), 1, new SettableTime(),
				GuardListener.NONE, (entry) -> {
					made.incrementAndGet();
					return new CallMonitor() {
					};
				})
			.get("p");
		int threads = 8;
		CyclicBarrier together = new CyclicBarrier(threads);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<CallMonitor>> asked = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				asked.add(executor.submit(() -> {
					together.await();
					return provider.monitor();
				}));
			}
			for (Future<CallMonitor> monitor : asked) {
				assertThat(monitor.get()).isSameAs(provider.monitor());
			}
			assertThat(made).hasValue(1);
		}
		finally {
			executor.shutdownNow();
		}
	}

}
