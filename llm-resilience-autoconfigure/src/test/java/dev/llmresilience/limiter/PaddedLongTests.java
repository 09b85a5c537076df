package dev.llmresilience.limiter;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.FieldLayout;

import static org.assertj.core.api.Assertions.assertThat;

class PaddedLongTests {

	private static final long CACHE_LINE = 64;

	@ParameterizedTest
	@ValueSource(classes = { Bucket.class, Places.class })
	void nothingThatIsReadSharesACacheLineWithTheNumber(Class<? extends PaddedLong> type) {
		ClassLayout layout = ClassLayout.parseClass(type);
		long number = layout.fields()
			.stream()
			.filter((field) -> field.name().equals("value"))
			.mapToLong(FieldLayout::offset)
			.findFirst()
			.orElseThrow();
		List<FieldLayout> read = layout.fields()
			.stream()
			.filter((field) -> !field.hostClass().contains("Padding"))
			.toList();
		assertThat(number - layout.headerSize()).isGreaterThanOrEqualTo(CACHE_LINE);
		assertThat(layout.instanceSize() - number).isGreaterThan(CACHE_LINE);
		assertThat(read).isNotEmpty()
			.allSatisfy((field) -> assertThat(Math.abs(field.offset() - number)).as(field.name())
				.isGreaterThanOrEqualTo(CACHE_LINE));
	}

}
