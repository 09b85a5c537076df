package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.llmresilience.engine.Flight.Share;
import dev.llmresilience.engine.Flight.Share.State;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class InFlightTests {

	private static final InFlight.Key KEY = key("v");

	private final InFlight inFlight = new InFlight();

	/** Who was told, in this order. */
	private final List<String> told = new ArrayList<>();

	@Test
	void theFirstLeadsAndTheOthersFollow() {
		assertThat(join("a").state()).isEqualTo(State.LEADING);
		assertThat(join("b").state()).isEqualTo(State.FOLLOWING);
		assertThat(join("c").state()).isEqualTo(State.FOLLOWING);
		assertThat(this.inFlight.size()).isOne();
		assertThat(this.told).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "summarise, anthropic, 1, FOLLOWING", "translate, anthropic, 1, LEADING",
			"summarise, openai, 1, LEADING", "summarise, anthropic, 2, LEADING" })
	void callsOfOneMethodProviderAndValueAreEqual(String method, String provider, int value, State state) {
		this.inFlight.join(new InFlight.Key("summarise", "anthropic", 1), () -> {
		});
		InFlight.Key key = new InFlight.Key(method, provider, value);
		assertThat(this.inFlight.join(key, () -> {
		}).state()).isEqualTo(state);
	}

	@Test
	void allHaveTheResultOfTheLeader() {
		List<Share> shares = List.of(join("a"), join("b"), join("c"));
		Object result = new Object();
		assertThat(shares.get(0).succeeded(result)).isTrue();
		assertThat(this.told).containsExactly("b", "c");
		assertThat(shares).allSatisfy((share) -> {
			assertThat(share.state()).isEqualTo(State.SUCCEEDED);
			assertThat(share.result()).isSameAs(result);
			assertThat(share.failure()).isNull();
		});
	}

	@Test
	void noResultIsAResult() {
		Share a = join("a");
		Share b = join("b");
		a.succeeded(null);
		assertThat(b.state()).isEqualTo(State.SUCCEEDED);
		assertThat(b.result()).isNull();
	}

	@Test
	void allHaveTheFailureOfTheLeaderTheSameObject() {
		List<Share> shares = List.of(join("a"), join("b"), join("c"));
		Exception failure = new IllegalStateException("HTTP 500");
		assertThat(shares.get(0).failed(failure)).isTrue();
		assertThat(this.told).containsExactly("b", "c");
		assertThat(shares).allSatisfy((share) -> {
			assertThat(share.state()).isEqualTo(State.FAILED);
			assertThat(share.failure()).isSameAs(failure);
		});
	}

	@ParameterizedTest
	@CsvSource({ "succeeded", "failed" })
	void onceThereIsAnOutcomeTheNextEqualCallIsMadeAnew(String outcome) {
		Share a = join("a");
		report(a, outcome);
		Share next = join("b");
		assertThat(next.state()).isEqualTo(State.LEADING);
		assertThat(next.result()).isNull();
		assertThat(next.failure()).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "succeeded", "failed", "left" })
	void nothingIsRememberedOfACallThatIsOver(String outcome) {
		report(join("a"), outcome);
		assertThat(this.inFlight.size()).isZero();
	}

	/** Its key may be looked up by somebody at this very moment. */
	@ParameterizedTest
	@CsvSource({ "succeeded", "failed", "left" })
	void nobodyCanJoinACallThatIsOver(String outcome) {
		List<Flight> over = new ArrayList<>();
		Flight flight = new Flight(KEY, over::add);
		Share only = Objects.requireNonNull(flight.join(() -> {
		}));
		report(only, outcome);
		assertThat(over).containsExactly(flight);
		assertThat(flight.join(() -> {
		})).isNull();
	}

	@Test
	void nothingIsRememberedOnceAllHaveLeft() {
		List<Share> shares = List.of(join("a"), join("b"), join("c"));
		shares.get(1).leave();
		shares.get(0).leave();
		assertThat(this.inFlight.size()).isOne();
		shares.get(2).leave();
		assertThat(this.inFlight.size()).isZero();
		assertThat(join("d").state()).isEqualTo(State.LEADING);
	}

	@Test
	void whenTheLeaderLeavesTheLongestFollowerTakesOver() {
		Share a = join("a");
		Share b = join("b");
		Share c = join("c");
		assertThat(a.leave()).isTrue();
		assertThat(this.told).containsExactly("b");
		assertThat(a.state()).isEqualTo(State.LEFT);
		assertThat(b.state()).isEqualTo(State.LEADING);
		assertThat(c.state()).isEqualTo(State.FOLLOWING);
		b.leave();
		assertThat(this.told).containsExactly("b", "c");
		assertThat(c.state()).isEqualTo(State.LEADING);
	}

	@Test
	void oneThatTookOverIsNotToldOfItsOwnOutcome() {
		Share a = join("a");
		Share b = join("b");
		join("c");
		a.leave();
		b.succeeded("answer");
		assertThat(this.told).containsExactly("b", "c");
	}

	@ParameterizedTest
	@CsvSource({ "succeeded", "failed" })
	void whatALeaderReportsThatHasLeftChangesNothing(String outcome) {
		Share a = join("a");
		Share b = join("b");
		a.leave();
		assertThat(report(a, outcome)).isFalse();
		assertThat(a.state()).isEqualTo(State.LEFT);
		assertThat(b.state()).isEqualTo(State.LEADING);
		assertThat(this.told).containsExactly("b");
	}

	@ParameterizedTest
	@CsvSource({ "succeeded", "failed" })
	void whatAFollowerReportsChangesNothing(String outcome) {
		Share a = join("a");
		Share b = join("b");
		assertThat(report(b, outcome)).isFalse();
		assertThat(a.state()).isEqualTo(State.LEADING);
		assertThat(b.state()).isEqualTo(State.FOLLOWING);
	}

	@Test
	void aFollowerThatLeavesIsNotTold() {
		Share a = join("a");
		Share b = join("b");
		Share c = join("c");
		assertThat(b.leave()).isTrue();
		assertThat(b.leave()).isFalse();
		a.leave();
		assertThat(this.told).containsExactly("c");
		assertThat(c.state()).isEqualTo(State.LEADING);
	}

	@Test
	void whoLeavesAfterTheOutcomeKeepsIt() {
		Share a = join("a");
		Share b = join("b");
		a.succeeded("answer");
		assertThat(b.leave()).isFalse();
		assertThat(b.state()).isEqualTo(State.SUCCEEDED);
		assertThat(b.result()).isEqualTo("answer");
	}

	@Test
	void ofTwoHundredEqualCallsWhoseLeaderIsCancelledOneMakesTheRequest() {
		List<Caller> callers = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			callers.add(new Caller());
		}
		List<Caller> requests = new ArrayList<>();
		callers.forEach((caller) -> caller.join(requests));
		callers.get(0).share().leave();
		assertThat(requests).containsExactly(callers.get(1));
		callers.get(1).share().succeeded("answer");
		assertThat(requests).hasSize(1);
		assertThat(callers.subList(1, 200))
			.allSatisfy((caller) -> assertThat(caller.share().result()).isEqualTo("answer"));
		assertThat(this.inFlight.size()).isZero();
	}

	@Test
	void aCallWhoseValueChangesMeanwhileIsStillFoundByThoseWhoShareIt() {
		List<String> messages = new ArrayList<>(List.of("hello"));
		Share leader = this.inFlight.join(key(messages), () -> this.told.add("a"));
		Share follower = this.inFlight.join(key(messages), () -> this.told.add("b"));
		messages.add("and more");
		assertThat(this.inFlight.join(key(messages), () -> {
		}).state()).isEqualTo(State.LEADING);
		assertThat(follower.state()).isEqualTo(State.FOLLOWING);
		leader.succeeded("answer");
		assertThat(this.told).containsExactly("b");
		assertThat(this.inFlight.size()).isOne();
	}

	@Test
	void oneWhoCannotBeWokenCostsNobodyElseTheOutcome() {
		Share a = join("a");
		Share broken = this.inFlight.join(KEY, () -> {
			throw new IllegalStateException("no thread left");
		});
		join("c");
		a.succeeded("answer");
		assertThat(broken.state()).isEqualTo(State.SUCCEEDED);
		assertThat(this.told).containsExactly("c");
	}

	@Test
	void whoIsToldFindsThatTheCallIsOver() {
		Share a = join("a");
		List<State> seen = new ArrayList<>();
		this.inFlight.join(KEY, () -> seen.add(onAnotherThread(() -> join("anew").state())));
		a.succeeded("answer");
		assertThat(seen).containsExactly(State.LEADING);
	}

	@Test
	void nobodyIsToldWhileTheCallIsLocked() {
		Share a = join("a");
		List<State> seen = new ArrayList<>();
		this.inFlight.join(KEY, () -> seen.add(onAnotherThread(() -> join("c").state())));
		a.leave();
		assertThat(seen).containsExactly(State.FOLLOWING);
	}

	@Test
	void aKeyNeverShowsItsValue() {
		assertThat(key("somebody's secret").toString()).doesNotContain("secret");
	}

	private static <T> T onAnotherThread(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task).orTimeout(10, TimeUnit.SECONDS).join();
	}

	private static boolean report(Share share, String outcome) {
		return switch (outcome) {
			case "succeeded" -> share.succeeded("answer");
			case "failed" -> share.failed(new CancellationException());
			default -> share.leave();
		};
	}

	private static InFlight.Key key(Object value) {
		return new InFlight.Key("method", "p", value);
	}

	private Share join(String name) {
		return this.inFlight.join(KEY, () -> this.told.add(name));
	}

	/** One that makes the request when it has to lead, except for the first. */
	private final class Caller {

		private @Nullable Share share;

		void join(List<Caller> requests) {
			this.share = InFlightTests.this.inFlight.join(KEY, () -> {
				if (share().state() == State.LEADING) {
					requests.add(this);
				}
			});
		}

		Share share() {
			return Objects.requireNonNull(this.share);
		}

	}

}
