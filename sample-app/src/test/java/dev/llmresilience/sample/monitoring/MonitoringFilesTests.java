package dev.llmresilience.sample.monitoring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dashboard and the alert rules, apart from their queries.
 */
class MonitoringFilesTests {

	private static Stream<AlertRules.Rule> rules() {
		return AlertRules.load().rules().stream();
	}

	@ParameterizedTest
	@MethodSource("rules")
	void an_alert_says_what_to_do_and_where_to_read_on(AlertRules.Rule rule) throws IOException {
		assertThat(rule.name()).startsWith("Llm");
		assertThat(rule.annotation("summary")).isNotEmpty();
		assertThat(rule.annotation("description")).isNotEmpty();
		String page = "docs/operating.md";
		assertThat(rule.annotation("runbook_url")).startsWith(page + "#");
		assertThat(anchors(Path.of("..", page))).contains(rule.annotation("runbook_url").substring(page.length() + 1));
	}

	/** As GitHub makes them of headings. */
	private static List<String> anchors(Path page) throws IOException {
		return Files.readAllLines(page)
			.stream()
			.filter((line) -> line.startsWith("#"))
			.map((line) -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", ""))
			.map((line) -> line.replace(' ', '-'))
			.toList();
	}

	@Test
	void the_dashboard_begins_with_the_retries_that_answers_take() {
		JsonNode first = Dashboard.load().json().path("panels").path(0);
		assertThat(first.path("title").asString()).isEqualTo("Retries per successful call");
		assertThat(first.path("gridPos").path("y").asInt()).isZero();
	}

	@Test
	void every_panel_has_an_id_of_its_own_and_reads_the_chosen_data_source() {
		Set<Integer> ids = new HashSet<>();
		for (JsonNode panel : Dashboard.load().json().path("panels")) {
			assertThat(ids.add(panel.path("id").asInt())).isTrue();
			assertThat(panel.path("datasource").path("uid").asString()).isEqualTo("${datasource}");
			assertThat(panel.path("description").asString()).isNotEmpty();
		}
		assertThat(ids).hasSizeGreaterThan(12);
	}

}
