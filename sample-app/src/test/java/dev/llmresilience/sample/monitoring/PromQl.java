package dev.llmresilience.sample.monitoring;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A query in the language of Prometheus, as far as it names metrics and labels.
 *
 * @param text the query
 */
record PromQl(String text) {

	private static final Pattern SELECTOR = Pattern.compile("([a-zA-Z_:][\\w:]*)\\s*(?:\\{([^}]*)})?(?=\\s*(.))");

	private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(?:=~|!~|!=|=)\\s*\"([^\"]*)\"");

	private static final Pattern GROUPING = Pattern
		.compile("\\b(?:by|without|on|ignoring)\\s*\\(([^)]*)\\)\\s*(?=\\()");

	private static final Set<String> WORDS = Set.of("and", "or", "unless", "by", "without", "on", "ignoring", "bool",
			"offset", "group_left", "group_right");

	/**
	 * What is wrong with the names in it.
	 * @param labelsByName the labels of each metric that there is
	 * @param valuesByLabel the values that a label may have, for those that have a fixed
	 * set
	 * @return one line for each name that nothing answers to
	 */
	List<String> problems(Map<String, Set<String>> labelsByName, Map<String, Set<String>> valuesByLabel) {
		List<String> problems = new ArrayList<>();
		Set<String> metrics = new TreeSet<>();
		selectors(this.text).forEach((selector) -> {
			String metric = selector.group(1);
			metrics.add(metric);
			Set<String> labels = labelsByName.get(metric);
			if (labels == null) {
				problems.add("no metric " + metric);
				return;
			}
			matchers(selector.group(2)).forEach((matcher) -> {
				String label = matcher.group(1);
				if (!labels.contains(label)) {
					problems.add(metric + " has no label " + label);
				}
				problems.addAll(unknown(label, matcher.group(2), valuesByLabel.get(label)));
			});
		});
		if (metrics.isEmpty()) {
			problems.add("no metric at all");
		}
		problems.addAll(groupings(labelsByName));
		return problems;
	}

	/** Labels to group by must be those of all metrics that are grouped. */
	private List<String> groupings(Map<String, Set<String>> labelsByName) {
		List<String> problems = new ArrayList<>();
		GROUPING.matcher(this.text).results().forEach((grouping) -> {
			String grouped = parentheses(this.text, grouping.end());
			List<String> metrics = selectors(grouped).stream().map((selector) -> selector.group(1)).toList();
			for (String label : grouping.group(1).split("\\s*,\\s*", -1)) {
				metrics.stream()
					.filter((metric) -> !labelsByName.getOrDefault(metric, Set.of()).contains(label))
					.forEach((metric) -> problems.add(metric + " cannot be grouped by " + label));
			}
		});
		return problems;
	}

	/**
	 * The labels that its result has, where it groups.
	 * @return all labels that it groups by
	 */
	Set<String> labelsOfResult() {
		Set<String> labels = new TreeSet<>();
		GROUPING.matcher(this.text)
			.results()
			.forEach((grouping) -> labels.addAll(Arrays.asList(grouping.group(1).split("\\s*,\\s*", -1))));
		return labels;
	}

	private static Collection<String> unknown(String label, String values, @Nullable Set<String> known) {
		if (known == null) {
			return List.of();
		}
		return Arrays.stream(values.split("\\|", -1))
			.filter((value) -> !known.contains(value))
			.map((value) -> label + " is never " + value)
			.toList();
	}

	private static List<MatchResult> matchers(@Nullable String inBraces) {
		return (inBraces != null) ? MATCHER.matcher(inBraces).results().toList() : List.of();
	}

	private static List<MatchResult> selectors(String query) {
		String plain = GROUPING.matcher(query).replaceAll("").replaceAll("\\[[^]]*]", "") + " ;";
		Matcher matcher = SELECTOR.matcher(plain);
		return matcher.results()
			.filter((result) -> !WORDS.contains(result.group(1)) && !result.group(3).equals("("))
			.toList();
	}

	private static String parentheses(String query, int start) {
		int depth = 0;
		for (int i = start; i < query.length(); i++) {
			depth += (query.charAt(i) == '(') ? 1 : (query.charAt(i) == ')') ? -1 : 0;
			if (depth == 0) {
				return query.substring(start, i + 1);
			}
		}
		throw new IllegalArgumentException("Parentheses do not match: " + query);
	}

}
