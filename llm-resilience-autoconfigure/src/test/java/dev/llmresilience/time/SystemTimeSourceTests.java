package dev.llmresilience.time;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.llmresilience.time.TimeSource.Timer;
import dev.llmresilience.time.TimeSource.Waiter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SystemTimeSourceTests {

	private final SystemTimeSource time = new SystemTimeSource();

	@AfterEach
	void endTime() {
		this.time.close();
	}

	@Test
	void runsATimer() throws InterruptedException {
		CountDownLatch ran = new CountDownLatch(1);
		this.time.schedule(1, ran::countDown);
		assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void aTimerThatFailsDoesNotStopThoseAfterIt() throws InterruptedException {
		CountDownLatch ran = new CountDownLatch(1);
		this.time.schedule(1, () -> {
			throw new IllegalStateException("a timer that fails on purpose");
		});
		this.time.schedule(2, ran::countDown);
		assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void aCancelledTimerDoesNotRun() throws InterruptedException {
		AtomicBoolean ran = new AtomicBoolean();
		Timer timer = this.time.schedule(Duration.ofMillis(50).toNanos(), () -> ran.set(true));
		timer.cancel();
		timer.cancel();
		CountDownLatch later = new CountDownLatch(1);
		this.time.schedule(Duration.ofMillis(60).toNanos(), later::countDown);
		assertThat(later.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(ran).isFalse();
	}

	@Test
	void nothingIsScheduledAfterClosing() {
		this.time.close();
		Timer timer = this.time.schedule(1, () -> {
		});
		timer.cancel();
		assertThat(this.time.waiter()).isNotNull();
	}

	@Test
	void aSignalGivenBeforeTheWaitEndsItAtOnce() throws InterruptedException {
		Waiter waiter = this.time.waiter();
		waiter.signal();
		assertThat(waiter.await(Duration.ofHours(1).toNanos())).isTrue();
	}

	@Test
	void aSignalFromATimerEndsAWait() throws InterruptedException {
		Waiter waiter = this.time.waiter();
		this.time.schedule(1, waiter::signal);
		assertThat(waiter.await(Duration.ofMinutes(1).toNanos())).isTrue();
	}

	@Test
	void aWaitWithoutASignalEndsWithItsTime() throws InterruptedException {
		assertThat(this.time.waiter().await(1000)).isFalse();
	}

	@Test
	void anInterruptEndsAWaitAndClearsTheFlag() {
		Waiter waiter = this.time.waiter();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> waiter.await(Duration.ofHours(1).toNanos()));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void drawsFromZeroToOne() {
		for (int i = 0; i < 1000; i++) {
			assertThat(this.time.random()).isGreaterThanOrEqualTo(0).isLessThan(1);
		}
	}

}
