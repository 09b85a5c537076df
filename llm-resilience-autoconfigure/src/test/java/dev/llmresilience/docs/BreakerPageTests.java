package dev.llmresilience.docs;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.breaker.BreakerSnapshot;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.breaker.WaitingRoom;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.CallSettings;
import dev.llmresilience.engine.FutureDriver;
import dev.llmresilience.engine.GuardListener;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page on the breaker, the quota latch and the retry budget: its timelines and
 * figures are run here, and its names exist.
 */
class BreakerPageTests {

	private static final Page PAGE = Page.of("breaker.md");

	private static final Path FILE = Path.of("../docs/breaker.md");

	private static final String REWRITE = "breaker.page.rewrite";

	private static final Pattern FIGURES = Pattern.compile("(?<=<!-- figures: budget -->\n\n).*?(?=\n\n<!-- end -->)",
			Pattern.DOTALL);

	private static final int CALLS = 10_000;

	@Test
	void everyStateIsOnThePage() {
		assertThat(PAGE.rowsFrom("## States\n")).map((row) -> plain(row.get(0)))
			.containsExactly(Arrays.stream(BreakerState.values()).map(Enum::name).toArray(String[]::new));
	}

	@Test
	void theKindsCountAsThePageSays() {
		Map<String, Set<FailureKind>> kinds = new LinkedHashMap<>();
		for (List<String> row : PAGE.rowsFrom("## What counts\n")) {
			Set<FailureKind> named = EnumSet.noneOf(FailureKind.class);
			Arrays.stream(FailureKind.values())
				.filter((kind) -> row.get(0).contains("`" + kind + "`"))
				.forEach(named::add);
			kinds.computeIfAbsent(row.get(1).split("[:;,]", -1)[0], (name) -> EnumSet.noneOf(FailureKind.class))
				.addAll(named);
		}
		assertThat(kinds.get("success")).isEqualTo(with(BreakerEffect.SUCCESS));
		assertThat(kinds.get("failure")).isEqualTo(with(BreakerEffect.FAILURE));
		assertThat(kinds.get("nothing")).isEqualTo(with(BreakerEffect.NEUTRAL));
	}

	private static Set<FailureKind> with(BreakerEffect effect) {
		Set<FailureKind> kinds = EnumSet.allOf(FailureKind.class);
		kinds.removeIf((kind) -> kind.breakerEffect() != effect);
		return kinds;
	}

	/** The mean number of trials until a run of successes, of a textbook. */
	@Test
	void runsComeAboutByChanceAsOftenAsThePageSays() {
		for (List<String> row : PAGE.rows("runs")) {
			double share = Double.parseDouble(row.get(0).replace(" %", "")) / 100;
			assertThat(row.subList(1, 3)).containsExactly("once in " + rounded(attemptsUntilRun(share, 5)),
					"once in " + rounded(attemptsUntilRun(share, 10)));
		}
	}

	private static double attemptsUntilRun(double share, int length) {
		return (Math.pow(share, -length) - 1) / (1 - share);
	}

	/** To two figures. */
	private static String rounded(double number) {
		BigDecimal rounded = new BigDecimal(number).round(new MathContext(2, RoundingMode.HALF_UP));
		return String.format(Locale.ROOT, (number < 10) ? "%,.1f" : "%,.0f", rounded);
	}

	@Test
	void theOutageGoesAsThePageShows() {
		Outage outage = new Outage(BreakerSettings.DEFAULTS);
		assertThat(PAGE.rows("timeline: outage").stream().map((row) -> row.subList(0, 3)))
			.containsExactlyElementsOf(outage.timeline);
		assertThat(outage.failed).isEqualTo(13);
		assertThat(PAGE.text()).contains("Thirteen requests met the outage.");
	}

	@Test
	void aShorterOpenTimeEndsTheOutageAsThePageSays() {
		BreakerSettings defaults = BreakerSettings.DEFAULTS;
		Outage outage = new Outage(new BreakerSettings(defaults.failureThreshold(), null, defaults.windowSize(), null,
				defaults.openDuration(), Duration.ofMinutes(1), defaults.trialTimeout()));
		assertThat(outage.timeline).last().isEqualTo(List.of("5:30", "the trial succeeds", "`CLOSED`"));
		assertThat(outage.failed).isEqualTo(13 + 2);
		assertThat(PAGE.text())
			.contains("`breaker.max-open-duration: 1m` the trial at 5:30 succeeds, for two requests more");
	}

	@Test
	void thoseWhoWaitAreLetInAsThePageShows() {
		List<List<String>> rows = PAGE.rows("timeline: let in");
		Map<Long, Integer> letIn = new LetIn(15).bySecond;
		assertThat(rows.stream().map((row) -> row.subList(0, 2))).containsExactlyElementsOf(letIn.entrySet()
			.stream()
			.map((entry) -> List.of(entry.getKey().toString(), entry.getValue().toString()))
			.toList());
	}

	@Test
	void probesGoOutAsThePageShows() {
		SettableTime time = new SettableTime();
		QuotaLatch latch = new QuotaLatch("p", ProviderSettings.DEFAULT_QUOTA_COOL_DOWN, time, (transition) -> {
		});
		latch.latch("spend_limit", null);
		List<String> probes = new ArrayList<>();
		for (int minute = 1; minute <= 200; minute++) {
			time.advance(Duration.ofMinutes(1));
			QuotaLatch.Permit permit = latch.tryAcquire();
			if (permit != null) {
				permit.exhausted();
				probes.add(String.format(Locale.ROOT, "%d:%02d", minute / 60, minute % 60));
			}
		}
		assertThat(PAGE.rows("timeline: probes").stream().map((row) -> row.get(1))).containsExactlyElementsOf(probes);
	}

	@Test
	void theBudgetBoundsRetriesAsThePageShows() throws IOException {
		StringBuilder table = new StringBuilder("| attempts that fail | budget | calls that fail | requests |\n");
		table.append("|---|---|---|---|");
		for (int percent : new int[] { 5, 10, 30, 100 }) {
			table.append(row(percent, "built in", BudgetSettings.DEFAULTS));
			table.append(row(percent, "`refill-per-success: 0.5`", new BudgetSettings(50, 0.5, 1)));
			table.append(row(percent, "off", null));
		}
		String measured = table.toString();
		if (Boolean.getBoolean(REWRITE)) {
			Files.writeString(FILE, FIGURES.matcher(PAGE.text()).replaceFirst((quoted) -> measured));
		}
		assertThat(FIGURES.matcher(Files.readString(FILE)).results().map(MatchResult::group))
			.as("Written anew by -D" + REWRITE + "=true")
			.containsExactly(measured);
	}

	private static String row(int percent, String name, @Nullable BudgetSettings budget) {
		Traffic traffic = new Traffic(percent / 100.0, budget);
		return String.format(Locale.ROOT, "\n| %d %% | %s | %.1f %% | %,d |", percent, name,
				100.0 * traffic.failed / CALLS, traffic.requests);
	}

	static Stream<String> constants() {
		return PAGE.code("[A-Z_]{2,}");
	}

	@ParameterizedTest
	@MethodSource("constants")
	void aConstantOnThePageExists(String constant) {
		Set<String> known = new TreeSet<>(Set.of("CLEAR"));
		for (Class<? extends Enum<?>> type : List.of(BreakerState.class, FailureKind.class, GiveUpReason.class)) {
			Arrays.stream(type.getEnumConstants()).map(Enum::name).forEach(known::add);
		}
		assertThat(known).contains(constant);
	}

	static Stream<String> properties() {
		return PAGE.code("(breaker|retry|quota|budget)\\.[a-z-]+(: .*)?").map((code) -> code.replaceAll(":.*", ""));
	}

	@ParameterizedTest
	@MethodSource("properties")
	void aPropertyOnThePageExists(String property) {
		// What the endpoint shows under the same name.
		assertThat(Page.known()).contains(property.replace("budget.tokens", "budget.capacity"));
	}

	static Stream<String> configurations() {
		return PAGE.blocks("yaml").stream();
	}

	@ParameterizedTest
	@MethodSource("configurations")
	void anApplicationStartsWithAConfigurationOfThePage(String yaml) {
		assertThat(Page.names(yaml)).isNotEmpty()
			.map((name) -> name.replaceFirst("^llm\\.resilience\\.providers\\.[a-z-]+\\.", ""))
			.isSubsetOf(Page.known());
		new ApplicationContextRunner().withInitializer(Page.configuration(yaml))
			.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static String plain(String cell) {
		return cell.replace("`", "");
	}

	/** A call every second. The tenth that fails is that of second zero. */
	private static final class Outage {

		private final List<List<String>> timeline = new ArrayList<>();

		private int failed;

		Outage(BreakerSettings settings) {
			SettableTime time = new SettableTime();
			CircuitBreaker breaker = new CircuitBreaker("p", settings, time, (transition) -> {
			});
			for (int second = -9; breaker.state() != BreakerState.CLOSED || second <= 0; second++) {
				BreakerState before = breaker.state();
				Permit permit = breaker.tryAcquire();
				if (permit != null) {
					boolean fails = second < 300;
					report(permit, fails);
					if (breaker.state() != before || before == BreakerState.OPEN) {
						this.timeline.add(List.of(clock(second),
								before == BreakerState.CLOSED ? "the tenth failure in a row"
										: fails ? "the trial fails" : "the trial succeeds",
								state(breaker.snapshot(), second, time)));
					}
				}
				time.advance(Duration.ofSeconds(1));
			}
		}

		private void report(Permit permit, boolean fails) {
			if (fails) {
				this.failed++;
				permit.failure(FailureKind.OVERLOADED, 529, 0);
			}
			else {
				permit.success();
			}
		}

		private static String state(BreakerSnapshot now, int second, SettableTime time) {
			return "`" + now.state() + "`" + ((now.nextTrialAt() != null)
					? " until " + clock(second + Duration.between(time.now(), now.nextTrialAt()).toSeconds()) : "");
		}

		private static String clock(long second) {
			return String.format(Locale.ROOT, "%d:%02d", second / 60, second % 60);
		}

	}

	/** Some calls wait for an open breaker, and each takes a second. */
	private static final class LetIn {

		private final Map<Long, Integer> bySecond = new TreeMap<>();

		private final VirtualTime time = new VirtualTime(1);

		private final CircuitBreaker breaker = new CircuitBreaker("p", BreakerSettings.DEFAULTS, this.time,
				(transition) -> {
				});

		private final WaitingRoom room = new WaitingRoom(this.breaker, this.time);

		private final List<RoomTicket> tickets = new ArrayList<>();

		private long closed = -1;

		LetIn(int calls) {
			for (int i = 0; i < BreakerSettings.DEFAULTS.failureThreshold(); i++) {
				Objects.requireNonNull(this.breaker.tryAcquire()).failure(FailureKind.OVERLOADED, 529, 0);
			}
			// One more, which is the trial.
			for (int i = 0; i <= calls; i++) {
				int number = i;
				this.tickets.add(this.room.join(Duration.ofHours(1).toNanos(), () -> letIn(this.tickets.get(number))));
			}
			this.time.runFor(Duration.ofMinutes(2));
		}

		private void letIn(RoomTicket ticket) {
			Permit permit = Objects.requireNonNull(this.breaker.tryAcquire());
			if (!permit.isTrial()) {
				long now = this.time.nanoTime();
				this.closed = (this.closed < 0) ? now : this.closed;
				this.bySecond.merge(Duration.ofNanos(now - this.closed).toSeconds(), 1, Integer::sum);
			}
			this.time.schedule(Duration.ofSeconds(1).toNanos(), () -> {
				permit.success();
				this.room.ended(ticket, true);
			});
		}

	}

	/** Calls whose attempts fail at random. */
	private static final class Traffic {

		private int requests;

		private int failed;

		Traffic(double share, @Nullable BudgetSettings budget) {
			SplittableRandom coin = new SplittableRandom(1);
			try (VirtualTime time = new VirtualTime(1)) {
				ProviderSettings defaults = ProviderSettings.defaults("p");
				Provider provider = new Providers(List.of(new ProviderSettings("p", defaults.type(), "p", List.of(),
						RetryPolicy.DEFAULTS, CallSettings.DEFAULTS, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF),
						null, budget, null, defaults.quotaCoolDown())), time, GuardListener.NONE)
					.get("p");
				FutureDriver driver = new FutureDriver(new CallEngine(time, SimulatedProvider.classifier(true)));
				for (int i = 0; i < CALLS; i++) {
					time.schedule(Duration.ofMillis(10).toNanos() * i, () -> {
						CompletableFuture<Void> unused = driver
							.call(CallPlan.of(provider, provider.options()), null, 0, () -> attempt(coin, share), null)
							.handle((answer, thrown) -> {
								this.failed += (thrown != null) ? 1 : 0;
								return null;
							});
					});
				}
				time.runFor(Duration.ofMinutes(10));
			}
		}

		private CompletableFuture<String> attempt(SplittableRandom coin, double share) {
			this.requests++;
			return (coin.nextDouble() < share) ? CompletableFuture.failedFuture(new StatusException(500, null))
					: CompletableFuture.completedFuture("answer");
		}

	}

}
