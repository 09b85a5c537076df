package dev.llmresilience.sample.monitoring;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What Prometheus would read of the application, in its text format.
 *
 * @param samples the samples in order
 */
record Scrape(List<Sample> samples) {

	private static final Pattern LINE = Pattern.compile("(\\w+)(?:\\{(.*)})? (\\S+)");

	private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

	static Scrape parse(String text) {
		return new Scrape(text.lines().filter((line) -> !line.startsWith("#")).map(Scrape::sample).toList());
	}

	private static Sample sample(String line) {
		Matcher matcher = LINE.matcher(line);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("Not a sample: " + line);
		}
		Map<String, String> labels = new TreeMap<>();
		Matcher label = LABEL.matcher((matcher.group(2) != null) ? matcher.group(2) : "");
		while (label.find()) {
			labels.put(label.group(1), label.group(2));
		}
		return new Sample(matcher.group(1), labels, Double.parseDouble(matcher.group(3)), line);
	}

	/**
	 * The sum of all samples that have the labels.
	 * @param name the name of the samples
	 * @param labels names and values by turns
	 * @return the sum, 0 if there is none
	 */
	double sum(String name, String... labels) {
		return named(name, labels).stream().mapToDouble(Sample::value).sum();
	}

	/**
	 * The only sample that has the labels.
	 * @param name the name of the sample
	 * @param labels names and values by turns
	 * @return its value
	 */
	double value(String name, String... labels) {
		List<Sample> found = named(name, labels);
		if (found.size() != 1) {
			throw new AssertionError("Not one sample " + name + List.of(labels) + " but " + found);
		}
		return found.get(0).value();
	}

	private List<Sample> named(String name, String... labels) {
		return this.samples.stream()
			.filter((sample) -> sample.name().equals(name))
			.filter((sample) -> has(sample, labels))
			.toList();
	}

	private static boolean has(Sample sample, String... labels) {
		for (int i = 0; i < labels.length; i += 2) {
			if (!labels[i + 1].equals(sample.labels().get(labels[i]))) {
				return false;
			}
		}
		return true;
	}

	/**
	 * The labels that samples have.
	 * @return all labels of any sample by the name of the samples
	 */
	Map<String, Set<String>> labelsByName() {
		Map<String, Set<String>> names = new TreeMap<>();
		this.samples.forEach((sample) -> names.computeIfAbsent(sample.name(), (name) -> new TreeSet<>())
			.addAll(sample.labels().keySet()));
		return names;
	}

	/**
	 * The lines of the library's meters, but for those of histograms.
	 * @return the lines
	 */
	String ofLibrary() {
		return this.samples.stream()
			.filter((sample) -> sample.name().startsWith("llm_") && !sample.name().endsWith("_bucket"))
			.map(Sample::line)
			.collect(Collectors.joining("\n"));
	}

	/**
	 * One sample.
	 *
	 * @param name its name
	 * @param labels its labels
	 * @param value its value
	 * @param line where it stood
	 */
	record Sample(String name, Map<String, String> labels, double value, String line) {
	}

}
