package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.Priority;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SettableTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class KeyedProvidersTests {

	private final SettableTime time = new SettableTime();

	@Test
	void eachValueHasGuardsOfItsOwnUnderTheNameAndTheSettingsOfTheEntry() {
		Providers providers = providers(10);
		Provider entry = providers.get("p");
		Provider a = lease(providers, "a").provider();
		Provider b = lease(providers, "b").provider();
		assertThat(List.of(a, b)).allSatisfy((provider) -> {
			assertThat(provider.name()).isEqualTo("p");
			assertThat(provider.settings()).isSameAs(entry.settings());
			assertThat(provider.accountQuota()).isNotSameAs(entry.accountQuota());
			assertThat(provider.limiter()).isNotSameAs(entry.limiter());
		});
		open(a);
		a.quota().latch("code", null);
		a.accountQuota().latch("code", null);
		Objects.requireNonNull(a.budget()).tryAcquire();
		a.limiter().tryAcquire(permit(), this.time.nanoTime());
		assertThat(List.of(entry, b)).allSatisfy((provider) -> {
			assertThat(Objects.requireNonNull(provider.breaker()).state()).isEqualTo(BreakerState.CLOSED);
			assertThat(provider.quota().isLatched()).isFalse();
			assertThat(provider.accountQuota().isLatched()).isFalse();
			assertThat(Objects.requireNonNull(provider.budget()).tokens()).isEqualTo(50);
			assertThat(provider.limiter().level()).isEqualTo(5);
		});
	}

	@Test
	void callsOfOneValueShareItsGuards() {
		Providers providers = providers(10);
		KeyedProvider first = lease(providers, new String("a"));
		assertThat(lease(providers, new String("a"))).isSameAs(first);
		first.release();
		first.release();
		assertThat(lease(providers, "a")).as("also later").isSameAs(first);
	}

	@Test
	void theSameValueOfAnotherEntryIsSomebodyElse() {
		Providers providers = new Providers(List.of(settings("p"), settings("q")), this.time, GuardListener.NONE);
		assertThat(lease(providers.keyed("p"), "a").provider())
			.isNotSameAs(lease(providers.keyed("q"), "a").provider());
	}

	@Test
	void theValueThatNobodyHasUsedForLongestMakesWay() {
		Providers providers = providers(3);
		KeyedProvider a = use(providers, "a");
		KeyedProvider b = use(providers, "b");
		KeyedProvider c = use(providers, "c");
		use(providers, "a");
		use(providers, "d");
		assertThat(providers.keyed("p").size()).isEqualTo(3);
		assertThat(lease(providers, "a")).isSameAs(a);
		assertThat(lease(providers, "c")).isSameAs(c);
		assertThat(lease(providers, "b")).as("in the place of d").isNotSameAs(b);
	}

	@Test
	void aValueIsLastUsedWhenItsCallEnds() {
		Providers providers = providers(2);
		KeyedProvider a = lease(providers, "a");
		use(providers, "b");
		this.time.advance(Duration.ofSeconds(1));
		a.release();
		use(providers, "c");
		assertThat(lease(providers, "a")).isSameAs(a);
	}

	@Test
	void aValueWithACallUnderWayNeverMakesWay() {
		Providers providers = providers(2);
		KeyedProvider a = lease(providers, "a");
		KeyedProvider again = lease(providers, "a");
		again.release();
		for (int i = 0; i < 10; i++) {
			use(providers, i);
		}
		assertThat(lease(providers, "a")).isSameAs(a);
		assertThat(a.provider().limiter().tryAcquire(permit(), this.time.nanoTime())).as("its limiter is open")
			.isTrue();
	}

	@Test
	void aValueWhoseHashHasChangedKeepsItsRoomAndHoldsNobodyUp() {
		Providers providers = providers(2);
		List<String> mutable = new ArrayList<>(List.of("a"));
		use(providers, mutable);
		mutable.add("changed");
		for (int i = 0; i < 10; i++) {
			use(providers, i);
		}
		assertThat(providers.keyed("p").size()).isLessThanOrEqualTo(2);
	}

	@Test
	void aValueThatHasSomethingToRememberMakesWayLast() {
		Providers providers = providers(4);
		KeyedProvider open = use(providers, "open");
		open(open.provider());
		KeyedProvider latched = use(providers, "latched");
		latched.provider().quota().latch("code", null);
		KeyedProvider unpaid = use(providers, "unpaid");
		unpaid.provider().accountQuota().latch("code", null);
		for (int i = 0; i < 10; i++) {
			use(providers, i);
		}
		assertThat(lease(providers, "open")).isSameAs(open);
		assertThat(lease(providers, "latched")).isSameAs(latched);
		assertThat(lease(providers, "unpaid")).isSameAs(unpaid);
	}

	@Test
	void whereAllHaveSomethingToRememberTheOneUnusedForLongestMakesWay() {
		Providers providers = providers(2);
		KeyedProvider a = use(providers, "a");
		open(a.provider());
		KeyedProvider b = use(providers, "b");
		open(b.provider());
		use(providers, "c");
		assertThat(lease(providers, "b")).isSameAs(b);
		KeyedProvider back = lease(providers, "a");
		assertThat(Objects.requireNonNull(back.provider().breaker()).state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void whereAllAreInUseTheCallIsUnderTheGuardsOfTheEntryAndOneLineSaysSo(CapturedOutput output) {
		Providers providers = providers(2);
		KeyedProvider a = lease(providers, "a");
		lease(providers, "b");
		assertThat(providers.keyed("p").lease("secret")).isNull();
		assertThat(providers.keyed("p").lease("secret")).isNull();
		assertThat(output).containsOnlyOnce("Calls of all 2 key values of 'p' are under way")
			.contains("Set llm.resilience.max-keys higher.")
			.doesNotContain("secret");
		a.release();
		assertThat(providers.keyed("p").lease("c")).isNotNull();
	}

	@Test
	void closingRefusesTheCallsOfAllValuesAlsoOfThoseToCome() {
		Providers providers = providers(2);
		KeyedProvider before = lease(providers, "before");
		providers.close();
		assertThat(before.provider().limiter().tryAcquire(permit(), this.time.nanoTime())).isFalse();
		assertThat(lease(providers, "after").provider().limiter().tryAcquire(permit(), this.time.nanoTime())).isFalse();
	}

	@Test
	void theRateOfTheEntryIsThatOfAllValuesAlsoOfThoseToCome() {
		Providers providers = providers(2);
		KeyedProvider before = lease(providers, "before");
		providers.setRequestsPerMinute("p", 120);
		assertThat(providers.limiter("p").requestsPerMinute()).isEqualTo(120);
		assertThat(before.provider().limiter().requestsPerMinute()).isEqualTo(120);
		assertThat(lease(providers, "after").provider().limiter().requestsPerMinute()).isEqualTo(120);
	}

	private Providers providers(int maxKeys) {
		return new Providers(List.of(settings("p")), maxKeys, this.time, GuardListener.NONE, CallMonitor.Factory.NONE);
	}

	private static ProviderSettings settings(String name) {
		ProviderSettings defaults = ProviderSettings.defaults(name);
		return new ProviderSettings(name, defaults.type(), name, List.of(), RetryPolicy.DEFAULTS, CallSettings.DEFAULTS,
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0, 5), null, defaults.budget(),
				Simulation.threshold(1), defaults.quotaCoolDown());
	}

	private KeyedProvider use(Providers providers, Object key) {
		KeyedProvider keyed = lease(providers, key);
		this.time.advance(Duration.ofSeconds(1));
		keyed.release();
		return keyed;
	}

	private static KeyedProvider lease(Providers providers, Object key) {
		return lease(providers.keyed("p"), key);
	}

	private static KeyedProvider lease(KeyedProviders providers, Object key) {
		return Objects.requireNonNull(providers.lease(key));
	}

	private static void open(Provider provider) {
		Objects.requireNonNull(Objects.requireNonNull(provider.breaker()).tryAcquire())
			.failure(FailureKind.SERVER_ERROR, 500, 0);
	}

	private static Permit permit() {
		return new Permit(KeyedProvidersTests.class, Priority.NORMAL, 0, false, 0);
	}

}
