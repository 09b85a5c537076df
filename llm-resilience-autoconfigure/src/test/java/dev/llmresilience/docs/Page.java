package dev.llmresilience.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.ClassUtils;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A page of the documentation.
 *
 * @param text what it says
 */
public record Page(String text) {

	private static final Path SOURCES = Path.of("src/test/java/dev/llmresilience/docs");

	/**
	 * Reads a page.
	 * @param name its name, such as {@code calls.md}
	 * @return the page
	 */
	public static Page of(String name) {
		return new Page(read(Path.of("../docs").resolve(name)));
	}

	/**
	 * Reads a source beside this one, without what the formatter decides.
	 * @param name its name
	 * @return all of its letters
	 */
	static String source(String name) {
		return plain(read(SOURCES.resolve(name)));
	}

	private static String read(Path path) {
		try {
			return Files.readString(path);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Drops what the formatter decides, and what only a nested class needs.
	 * @param code some code
	 * @return the same without whitespace
	 */
	static String plain(String code) {
		return code.replaceAll("\\s+|static (?=class)", "");
	}

	/**
	 * Drops what depends on where some code stands.
	 * @param code some code
	 * @return the same without indents and empty lines
	 */
	public static String withoutIndents(String code) {
		return code.lines().map(String::strip).filter((line) -> !line.isEmpty()).collect(Collectors.joining("\n"));
	}

	/**
	 * What stands in blocks of a language.
	 * @param language the language
	 * @return the blocks, in their order
	 */
	public List<String> blocks(String language) {
		return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
			.matcher(this.text)
			.results()
			.map((found) -> found.group(1))
			.toList();
	}

	/**
	 * The block after a comment.
	 * @param comment the comment
	 * @return the block
	 */
	public String block(String comment) {
		return Pattern.compile("<!-- " + comment + " -->\n+```[a-z]*\n(.*?)```", Pattern.DOTALL)
			.matcher(this.text)
			.results()
			.map((found) -> found.group(1))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * The rows of the table after a comment, without its head.
	 * @param comment the comment
	 * @return the cells of each row
	 */
	public List<List<String>> rows(String comment) {
		return rowsFrom("<!-- " + comment + " -->");
	}

	/**
	 * The rows of the first table from a place on, without its head.
	 * @param start what stands there: a heading before the table, or the table's own head
	 * @return the cells of each row
	 */
	public List<List<String>> rowsFrom(String start) {
		return this.text.substring(this.text.indexOf(start))
			.lines()
			.dropWhile((line) -> !line.startsWith("|"))
			.takeWhile((line) -> line.startsWith("|"))
			.skip(2)
			.map((line) -> Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
				.map(String::strip)
				.toList())
			.toList();
	}

	/**
	 * What the sentences and tables set in code.
	 * @param regex what it looks like
	 * @return each of them once
	 */
	public Stream<String> code(String regex) {
		return Pattern.compile("`([^`\n]+)`")
			.matcher(this.text.replaceAll("(?s)```.*?```", ""))
			.results()
			.map((MatchResult found) -> found.group(1))
			.filter((code) -> code.matches(regex))
			.distinct();
	}

	/**
	 * The classes that a name may mean.
	 * @param name the simple name
	 * @param packages where they may be
	 * @return those that exist
	 */
	public static List<Class<?>> types(String name, List<String> packages) {
		return packages.stream()
			.map((home) -> home + "." + name)
			.filter((type) -> ClassUtils.isPresent(type, null))
			.<Class<?>>map((type) -> ClassUtils.resolveClassName(type, null))
			.toList();
	}

	/**
	 * Reads a configuration.
	 * @param yaml the configuration
	 * @return its properties
	 */
	public static List<PropertySource<?>> properties(String yaml) {
		try {
			return new YamlPropertySourceLoader().load("page " + yaml.hashCode(),
					new ByteArrayResource(yaml.getBytes(UTF_8)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Lets an application have a configuration.
	 * @param yaml the configuration
	 * @return what adds it
	 */
	public static ApplicationContextInitializer<ConfigurableApplicationContext> configuration(String yaml) {
		return (context) -> properties(yaml).forEach(context.getEnvironment().getPropertySources()::addLast);
	}

	/**
	 * The properties that a configuration sets.
	 * @param yaml the configuration
	 * @return their names
	 */
	public static List<String> names(String yaml) {
		return properties(yaml).stream()
			.flatMap((source) -> Arrays.stream(((EnumerablePropertySource<?>) source).getPropertyNames()))
			.toList();
	}

	/**
	 * The properties of an entry that belong to a group of it.
	 * @return their names, such as {@code retry.max-attempts}
	 */
	static Set<String> known() {
		Set<String> known = new TreeSet<>();
		for (RecordComponent group : ProviderEntry.class.getRecordComponents()) {
			if (group.getType().isRecord()) {
				for (RecordComponent component : group.getType().getRecordComponents()) {
					known.add(group.getName() + "." + DataObjectPropertyName.toDashedForm(component.getName()));
				}
			}
		}
		return known;
	}

}
