package dev.llmresilience.sample.monitoring;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * docs/grafana-dashboard.json.
 *
 * @param json all of it
 */
record Dashboard(JsonNode json) {

	private static final Pattern LEGEND = Pattern.compile("\\{\\{(\\w+)}}");

	private static final Pattern VALUES = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");

	static Dashboard load() {
		return new Dashboard(new JsonMapper().readTree(Path.of("../docs/grafana-dashboard.json")));
	}

	/**
	 * The queries of all panels and variables.
	 * @return the queries, those of the variables as queries that group by the label
	 */
	List<Query> queries() {
		List<Query> queries = new ArrayList<>();
		for (JsonNode panel : this.json.path("panels")) {
			for (JsonNode target : panel.path("targets")) {
				List<String> shown = LEGEND.matcher(target.path("legendFormat").asString())
					.results()
					.map((label) -> label.group(1))
					.toList();
				String where = panel.path("title").asString() + ", " + target.path("refId").asString();
				queries.add(new Query(where, withoutVariables(target.path("expr").asString()), shown));
			}
		}
		for (JsonNode variable : this.json.path("templating").path("list")) {
			VALUES.matcher(variable.path("definition").asString())
				.results()
				.forEach((values) -> queries.add(new Query("variable " + variable.path("name").asString(),
						"sum by (%s) (%s)".formatted(values.group(2), values.group(1)), List.of())));
		}
		return queries;
	}

	private static String withoutVariables(String query) {
		return query.replace("$__rate_interval", "5m").replace("$provider", ".*");
	}

	/**
	 * One query.
	 *
	 * @param where the panel
	 * @param text the query
	 * @param shown the labels that its legend shows
	 */
	record Query(String where, String text, List<String> shown) {
	}

}
