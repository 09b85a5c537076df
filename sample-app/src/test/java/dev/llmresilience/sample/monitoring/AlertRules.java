package dev.llmresilience.sample.monitoring;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * docs/prometheus-alerts.yml.
 *
 * @param rules the rules in order
 */
record AlertRules(List<Rule> rules) {

	private static final Pattern LABEL = Pattern.compile("\\$labels\\.(\\w+)");

	static AlertRules load() {
		try (Reader file = Files.newBufferedReader(Path.of("../docs/prometheus-alerts.yml"))) {
			JsonNode yaml = new JsonMapper().valueToTree(new Yaml().load(file));
			return new AlertRules(yaml.path("groups")
				.valueStream()
				.flatMap((group) -> group.path("rules").valueStream())
				.map(Rule::new)
				.toList());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * One rule.
	 *
	 * @param json all of it
	 */
	record Rule(JsonNode json) {

		String name() {
			return this.json.path("alert").asString();
		}

		String query() {
			return this.json.path("expr").asString();
		}

		/** The labels that its texts show. */
		List<String> shown() {
			return LABEL.matcher(this.json.path("annotations").toString())
				.results()
				.map((label) -> label.group(1))
				.distinct()
				.toList();
		}

		String annotation(String name) {
			return this.json.path("annotations").path(name).asString("");
		}

	}

}
