package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class AlarmTests {

	private final VirtualTime time = new VirtualTime(1);

	private final List<Long> gone = new ArrayList<>();

	private final Alarm alarm = new Alarm(this.time, this.gone::add);

	@Test
	void aNewSettingTakesThePlaceOfTheOldOne() {
		this.alarm.set(10, 0);
		this.alarm.set(5, 0);
		this.time.runFor(Duration.ofNanos(20));
		assertThat(this.gone).containsExactly(2L);
	}

	@Test
	void oneThatWentOffWhileItWasSetAnewDoesNotForgetTheNewSetting() {
		this.alarm.set(10, 0);
		this.alarm.set(5, 0);
		this.alarm.gone(1);
		this.alarm.set(7, 0);
		this.time.runFor(Duration.ofNanos(20));
		assertThat(this.gone).as("the second was still known, and cancelled").containsExactly(3L);
	}

}
