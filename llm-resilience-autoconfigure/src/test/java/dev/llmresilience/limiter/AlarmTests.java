package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

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
	void oneThatCouldNotBeSetIsSetTheNextTime() {
		FailingTimers timers = new FailingTimers(this.time);
		Alarm alarm = new Alarm(timers, this.gone::add);
		alarm.set(10, 0);
		timers.failing = true;
		assertThatIllegalStateException().isThrownBy(() -> alarm.set(5, 0));
		timers.failing = false;
		alarm.set(5, 0);
		this.time.runFor(Duration.ofNanos(20));
		assertThat(this.gone).containsExactly(3L);
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
