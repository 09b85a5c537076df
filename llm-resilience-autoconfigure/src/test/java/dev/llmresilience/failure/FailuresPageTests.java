package dev.llmresilience.failure;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.Ladder;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.docs.Page;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the tables of the page on failures against the code.
 */
class FailuresPageTests {

	static List<List<String>> kinds() {
		return table("The kinds");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("kinds")
	void theKindsAreAsThePageSays(List<String> row) {
		FailureKind kind = FailureKind.valueOf(row.get(0));
		String ladder = switch (kind.ladder()) {
			case NONE -> "never";
			case TRANSPORT -> "transport ladder";
			case RATE_LIMIT -> "rate-limit ladder";
		};
		assertThat(row.subList(2, 5)).containsExactly(ladder, (kind.ladder() != Ladder.NONE) ? "1" : "0",
				kind.breakerEffect().name().toLowerCase(Locale.ROOT));
	}

	@Test
	void everyKindIsOnThePage() {
		assertThat(kinds()).map((row) -> row.get(0))
			.containsExactlyInAnyOrderElementsOf(Arrays.stream(FailureKind.values()).map(Enum::name).toList());
	}

	static List<List<String>> statuses() {
		return table("Statuses");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("statuses")
	void theStatusesMeanWhatThePageSays(List<String> row) {
		for (String status : row.get(0).split(", ", -1)) {
			assertThat(Failures.judge(Failures.response(Integer.parseInt(status), null, null)).split(" ", 2)[0])
				.isEqualTo(row.get(1));
		}
	}

	static List<List<String>> signs() {
		return table("Providers");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("signs")
	void theSignsMeanWhatThePageSays(List<String> row) {
		String provider = row.get(0).toUpperCase(Locale.ROOT).replace('-', '_');
		List<ProviderType> types = provider.equals("ALL") ? List.of(ProviderType.values())
				: List.of(ProviderType.valueOf(provider));
		for (ProviderType type : types) {
			LlmFailure failure = judge(type, Integer.parseInt(row.get(1)), row.get(2));
			String latch = switch (failure.latch()) {
				case NONE -> "-";
				case PROVIDER -> "entry";
				case ACCOUNT -> "account";
			};
			assertThat(List.of(failure.kind().name(), latch)).as(type.name()).isEqualTo(row.subList(3, 5));
		}
	}

	private static LlmFailure judge(ProviderType type, int status, String sign) {
		String value = sign.substring(sign.indexOf('`') + 1, sign.lastIndexOf('`'));
		String word = sign.substring(0, sign.indexOf('`')).strip();
		if (word.equals("header")) {
			return Failures.classify(Failures.response(status, value, null), type);
		}
		String field = switch (word) {
			case "code" -> "\"code\":\"%s\"";
			case "status code" -> "\"status\":\"%s\"";
			case "text" -> "\"message\":\"%s\"";
			case "quota id" -> "\"details\":[{\"violations\":[{\"quotaId\":\"%s\"}]}]";
			case "reason" -> "\"details\":[{\"reason\":\"%s\"}]";
			case "type" -> "\"metadata\":{\"error_type\":\"%s\"}";
			case "source" -> "\"metadata\":{\"limit_source\":\"%s\"}";
			default -> throw new IllegalArgumentException(sign);
		};
		String body = "{\"error\":{" + field.formatted(value) + "}}";
		return Failures.classify(Failures.response(status, null, body), type);
	}

	static List<List<String>> hints() {
		return table("Hints");
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("hints")
	void theHintsAreReadAsThePageSays(List<String> row) {
		boolean header = row.get(0).equals("header");
		String body = row.get(0).equals("text") ? "{\"error\":{\"message\":\"" + row.get(2) + "\"}}" : row.get(2);
		LlmFailure failure = Failures.classify(Failures.response(429, header ? row.get(2) : null, header ? null : body),
				ProviderType.GENERIC);
		assertThat(failure.hint()).isNotNull();
		assertThat(failure.latch()).isEqualTo(LatchScope.NONE);
	}

	/** The first table under a heading, without marks that enclose a whole cell. */
	private static List<List<String>> table(String heading) {
		List<List<String>> rows = Page.of("failures.md").rowsFrom("\n## " + heading + "\n");
		assertThat(rows).as(heading).hasSizeGreaterThan(1);
		return rows.stream()
			.map((row) -> row.stream()
				.map((cell) -> cell.matches("`[^`]*`") ? cell.substring(1, cell.length() - 1) : cell)
				.toList())
			.toList();
	}

}
