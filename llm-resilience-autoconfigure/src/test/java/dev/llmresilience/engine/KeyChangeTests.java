package dev.llmresilience.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.LlmCall;
import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.test.SimulatedProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** When an API key is the successor of another one. */
class KeyChangeTests {

	private final SettableTime time = new SettableTime();

	/** One letter a key, ten seconds a letter. */
	@ParameterizedTest(name = "{0}: {2}")
	@CsvSource({ "AAAA, 0, the same key all the time", "AAAB, 1, another key once the first has been in use",
			"AAABBB, 1, and that stays", "AAABBBCCC, 2, and then a third one",
			"ABCDEFGH, 0, a signature for each request", "AAABABAB, 1, two keys in turn change once at most",
			"ABABABAAAB, 0, two keys in turn", "AAABABBBCC, 2, late answers to the former key are no return to it",
			"A, 0, one request" })
	void anEntryHasGoneOverToAnotherKey(String requests, int changes, String because) {
		KeyChange keyChange = new KeyChange();
		int seen = 0;
		for (int i = 0; i < requests.length(); i++) {
			seen += keyChange.used(requests.charAt(i), Duration.ofSeconds(10L * i).toNanos()) ? 1 : 0;
		}
		assertThat(seen).as(because).isEqualTo(changes);
	}

	@Test
	void anotherKeyStartsClean() throws Throwable {
		Provider provider = new Providers(List.of(ProviderSettings.defaults("p")), this.time, GuardListener.NONE)
			.get("p");
		RateLimiter limiter = provider.limiter();
		send(provider, "one");
		this.time.advance(Duration.ofMinutes(1));
		send(provider, "one");
		Permit permit = new Permit(this, Priority.NORMAL, 0, false, 0);
		limiter.onSend(permit, this.time.nanoTime());
		limiter.onRejected(permit, -1, List.of());
		limiter.back(permit);
		assertThat(limiter.requestsPerMinute()).isEqualTo(60);
		send(provider, "one");
		assertThat(limiter.requestsPerMinute()).isEqualTo(60);
		send(provider, "two");
		assertThat(limiter.requestsPerMinute()).isNull();
	}

	private void send(Provider provider, String key) throws Throwable {
		this.time.advance(Duration.ofSeconds(2));
		new BlockingDriver(new CallEngine(this.time, SimulatedProvider.classifier(true))).call(provider,
				provider.options(), () -> {
					Objects.requireNonNull(Exchange.begin(LlmCall.current())).sentWith(key);
					return "text";
				}, null);
	}

}
