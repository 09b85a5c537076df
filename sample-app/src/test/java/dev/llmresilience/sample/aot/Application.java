package dev.llmresilience.sample.aot;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import dev.llmresilience.sample.SampleApplication;

import org.springframework.boot.SpringApplicationAotProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The sample application in a process of its own, as a user would start it.
 */
final class Application implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

	private static final List<String> ARGUMENTS = List.of("--server.port=0", "--spring.ai.anthropic.api-key=embedded",
			"--spring.ai.openai.api-key=embedded",
			"--management.endpoints.web.exposure.include=health,beans,llmbreakers,llmproviders,prometheus");

	private final Process process;

	private final Path log;

	private Application(Process process, Path log) {
		this.process = process;
		this.log = log;
	}

	/**
	 * Generates and compiles what starts the application without looking at its
	 * annotations, as the Maven plugin does.
	 * @param directory where to
	 * @return the directories to put before the class path
	 */
	static List<Path> processAheadOfTime(Path directory) throws IOException, InterruptedException {
		Path sources = directory.resolve("sources");
		Path resources = directory.resolve("resources");
		Path classes = Files.createDirectories(directory.resolve("classes"));
		List<String> command = java(List.of(), List.of(), SpringApplicationAotProcessor.class);
		command.addAll(List.of(SampleApplication.class.getName(), sources.toString(), resources.toString(),
				classes.toString(), "dev.llmresilience", "sample-app"));
		command.addAll(ARGUMENTS);
		Path log = directory.resolve("aot.log");
		Process process = start(command, log);
		assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(process.exitValue()).as(Files.readString(log)).isZero();
		compile(sources, classes);
		return List.of(classes, resources);
	}

	private static void compile(Path sources, Path classes) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		List<String> arguments = new ArrayList<>(List.of("-nowarn", "-proc:none", "-parameters", "-classpath",
				classPath(List.of(classes)), "-d", classes.toString()));
		try (Stream<Path> files = Files.walk(sources)) {
			files.map(Path::toString).filter((file) -> file.endsWith(".java")).forEach(arguments::add);
		}
		assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new))).isZero();
	}

	/**
	 * Starts the application.
	 * @param before directories to put before the class path
	 * @param directory where its log goes
	 * @param options options of the virtual machine
	 * @return the application, which may not be ready yet
	 */
	static Application start(List<Path> before, Path directory, String... options) throws IOException {
		List<String> command = java(before, List.of(options), SampleApplication.class);
		command.addAll(ARGUMENTS);
		Path log = directory.resolve("application.log");
		return new Application(start(command, log), log);
	}

	private static Process start(List<String> command, Path log) throws IOException {
		return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
	}

	private static List<String> java(List<Path> before, List<String> options, Class<?> main) {
		List<String> command = new ArrayList<>();
		command.add(ProcessHandle.current().info().command().orElseThrow());
		command.add("-XX:TieredStopAtLevel=1");
		command.addAll(options);
		command.addAll(List.of("-classpath", classPath(before), main.getName()));
		return command;
	}

	/** Without the tests, and without what is there for only one of them. */
	private static String classPath(List<Path> before) {
		Stream<String> all = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator));
		return Stream
			.concat(before.stream().map(Path::toString),
					all.filter((entry) -> !entry.endsWith("test-classes") && !entry.contains("registry-otlp")))
			.collect(Collectors.joining(File.pathSeparator));
	}

	/**
	 * Waits until it is ready.
	 * @return the port that it listens on
	 */
	int port() {
		await().atMost(PATIENCE).until(() -> !this.process.isAlive() || log().contains("Started SampleApplication"));
		assertThat(this.process.isAlive()).as(log()).isTrue();
		return PORT.matcher(log())
			.results()
			.map((MatchResult found) -> Integer.parseInt(found.group(1)))
			.findFirst()
			.orElseThrow();
	}

	String log() {
		try {
			return Files.readString(this.log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		this.process.destroy();
		await().atMost(PATIENCE).until(() -> !this.process.isAlive());
	}

}
