package dev.llmresilience.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.docs.Page;
import dev.llmresilience.engine.CallMonitor;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.Providers;
import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What docs/monitoring.md says of meters and their tags.
 */
class MonitoringPageTests {

	private static final Page PAGE = Page.of("monitoring.md");

	private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

	@Test
	void theTableHasTheMetersThatAreRegistered() {
		withAllMeters(() -> assertThat(rows("meter").map((row) -> List.of(row.get(0), row.get(1), row.get(3))))
			.containsExactlyInAnyOrderElementsOf(this.registry.getMeters()
				.stream()
				.map((meter) -> List.of(meter.getId().getName(),
						meter.getId().getType().name().toLowerCase(Locale.ROOT), tags(meter)))
				.collect(Collectors.toSet())));
	}

	private static String tags(Meter meter) {
		return meter.getId()
			.getTags()
			.stream()
			.map((tag) -> tag.getKey())
			.filter((key) -> !key.equals("provider"))
			.collect(Collectors.joining(", "));
	}

	@Test
	void theyAreCalledInPrometheusAsTheTableSays() {
		withAllMeters(() -> {
			Set<String> scraped = this.registry.scrape()
				.lines()
				.filter((line) -> !line.startsWith("#"))
				.map((line) -> line.replaceFirst("\\{.*", "").replaceFirst("_seconds_(count|sum|max)$", "_seconds"))
				.collect(Collectors.toCollection(TreeSet::new));
			assertThat(rows("meter").map((row) -> row.get(4))).containsExactlyInAnyOrderElementsOf(scraped);
		});
	}

	private static Stream<Arguments> sets() {
		return Stream.of(arguments("outcome", GiveUpReason.values()), arguments("kind", FailureKind.values()),
				arguments("cause", WaitCause.values()), arguments("dimension", Dimension.values()),
				arguments("state", BreakerState.values()));
	}

	@ParameterizedTest
	@MethodSource("sets")
	void theValuesOfATagAreAllThere(String tag, Enum<?>[] constants) {
		List<String> row = rows("tag").filter((cells) -> cells.get(0).equals(tag)).findFirst().orElseThrow();
		assertThat(Arrays.stream(row.get(1).split(", ")).filter((value) -> !value.equals("SUCCESS")))
			.containsExactly(Arrays.stream(constants).map(Enum::name).toArray(String[]::new));
	}

	/** The rows of the table whose first column has that heading, without backquotes. */
	private static Stream<List<String>> rows(String heading) {
		return PAGE.rowsFrom("\n| " + heading + " |")
			.stream()
			.map((row) -> row.stream().map((cell) -> cell.replace("`", "")).toList());
	}

	private void withAllMeters(Runnable check) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.anthropic.limiter.tokens-per-minute=1000")
			.run((context) -> {
				Provider provider = Objects.requireNonNull(context.getBean(Providers.class).find("anthropic"));
				try (LlmMeters meters = new LlmMeters(() -> this.registry)) {
					CallMonitor monitor = meters.of(provider);
					monitor.attemptEnded(FailureKind.OVERLOADED);
					monitor.limiterWaited(1);
					monitor.retries(WaitCause.BACKOFF, 1, 1);
					monitor.breakerWaited(1);
					monitor.ended(GiveUpReason.ATTEMPTS, 1);
					monitor.failedOver("openai");
					monitor.deduplicated();
					check.run();
				}
			});
	}

}
