package dev.llmresilience.benchmarks;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * What the starter adds to the start of an empty web application with Actuator, beside
 * what Resilience4j's adds. Each start is a JVM of its own, and the variants take turns,
 * so that a busy machine hits them alike; and how many beans it has then. Takes the
 * number of rounds, 9 unless given.
 */
public final class StartupComparison {

	private static final Pattern READY = Pattern.compile("ready after (\\d+) ms with (\\d+) beans");

	private static final Pattern OURS = Pattern.compile("llm-resilience-.*");

	private static final Pattern PEER = Pattern.compile("(resilience4j|vavr|kotlin|annotations-).*");

	private static final Pattern ASPECTS = Pattern.compile("(aspectjweaver|spring-boot-starter-aspectj).*");

	private static final Pattern TOOLS = Pattern
		.compile("(jmh|jopt|commons-math|bucket4j|guava|failureaccess|listenablefuture|j2objc|error_prone).*");

	private StartupComparison() {
	}

	/**
	 * Compares.
	 * @param args the number of rounds
	 * @throws Exception if a variant does not start
	 */
	public static void main(String[] args) throws Exception {
		int rounds = (args.length > 0) ? Integer.parseInt(args[0]) : 9;
		Map<String, String> variants = new LinkedHashMap<>();
		variants.put("without", classPath(OURS, PEER, ASPECTS, TOOLS));
		variants.put("llm-resilience", classPath(PEER, TOOLS));
		variants.put("resilience4j", classPath(OURS, TOOLS));
		Map<String, List<Long>> times = new LinkedHashMap<>();
		Map<String, Long> beans = new LinkedHashMap<>();
		for (int round = 0; round <= rounds; round++) {
			for (Map.Entry<String, String> variant : variants.entrySet()) {
				Start start = start(variant.getValue());
				beans.put(variant.getKey(), start.beans());
				// The first round only warms the file cache.
				if (round > 0) {
					times.computeIfAbsent(variant.getKey(), (name) -> new ArrayList<>()).add(start.millis());
				}
			}
		}
		List<Long> base = times.getOrDefault("without", List.of());
		times.forEach((name, values) -> System.out.printf("%-15s median %5d ms, median difference %+5d ms, %d beans%n",
				name, median(values.stream()), median(differences(values, base)), beans.get(name)));
	}

	private static Stream<Long> differences(List<Long> values, List<Long> base) {
		return Stream.iterate(0, (i) -> i + 1).limit(values.size()).map((i) -> values.get(i) - base.get(i));
	}

	private static long median(Stream<Long> values) {
		List<Long> sorted = values.sorted().toList();
		return sorted.get(sorted.size() / 2);
	}

	private static String classPath(Pattern... without) throws IOException {
		Path jar = Path.of(System.getProperty("java.class.path")).toAbsolutePath();
		try (Stream<Path> files = Files.list(jar.resolveSibling("lib"))) {
			return files
				.filter((file) -> Arrays.stream(without)
					.noneMatch((pattern) -> pattern.matcher(file.getFileName().toString()).matches()))
				.map(Path::toString)
				.sorted()
				.collect(Collectors.joining(File.pathSeparator));
		}
	}

	private static Start start(String classPath) throws IOException, InterruptedException {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		// The manifest of the benchmarks' jar would bring the jars back that are left
		// out.
		Path classes = Files.createTempDirectory("startup");
		copyApplication(classes);
		Process process = new ProcessBuilder(java, "-cp", classes + File.pathSeparator + classPath,
				Application.class.getName())
			.redirectErrorStream(true)
			.start();
		StringBuilder output = new StringBuilder();
		Start start = null;
		try (BufferedReader reader = new BufferedReader(
				new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				output.append(line).append('\n');
				Matcher ready = READY.matcher(line);
				if (ready.matches()) {
					start = new Start(Long.parseLong(ready.group(1)), Long.parseLong(ready.group(2)));
				}
			}
		}
		if (process.waitFor() != 0 || start == null) {
			throw new IllegalStateException("A variant did not start:\n" + output);
		}
		return start;
	}

	private static void copyApplication(Path classes) throws IOException {
		String name = Application.class.getName().replace('.', '/') + ".class";
		Path target = classes.resolve(name);
		Files.createDirectories(target.getParent());
		try (var in = StartupComparison.class.getClassLoader().getResourceAsStream(name)) {
			if (in == null) {
				throw new IllegalStateException("No " + name);
			}
			Files.copy(in, target);
		}
	}

	private record Start(long millis, long beans) {
	}

	/**
	 * An empty web application that ends as soon as it is ready.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	public static class Application {

		/**
		 * Starts and ends.
		 * @param args the command line
		 */
		public static void main(String[] args) {
			SpringApplication application = new SpringApplication(Application.class);
			application.setDefaultProperties(Map.of("server.port", "0", "logging.level.root", "warn"));
			ConfigurableApplicationContext context = application.run(args);
			System.out.println("ready after " + ManagementFactory.getRuntimeMXBean().getUptime() + " ms with "
					+ context.getBeanDefinitionCount() + " beans");
			context.close();
		}

	}

}
