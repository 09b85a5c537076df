package dev.llmresilience.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.llmresilience.time.TimeSource.Waiter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class VirtualTimeTests {

	private final VirtualTime time = new VirtualTime(42);

	private final List<String> events = new ArrayList<>();

	@AfterEach
	void endTime() {
		this.time.close();
	}

	@Test
	void hoursPassOnlyWhenEveryCallerWaits() {
		this.time.start(() -> {
			this.time.sleep(Duration.ofHours(3));
			note("three");
		});
		this.time.start(() -> {
			this.time.sleep(Duration.ofHours(1));
			note("one");
			this.time.sleep(Duration.ofHours(4));
			note("five");
		});
		this.time.run();
		assertThat(this.events).containsExactly("one at PT1H", "three at PT3H", "five at PT5H");
		assertThat(this.time.now()).isEqualTo(VirtualTime.DEFAULT_START.plus(Duration.ofHours(5)));
	}

	@Test
	void theSameSeedGivesTheSameRun() {
		assertThat(randomRun(7)).isEqualTo(randomRun(7)).isNotEqualTo(randomRun(8));
	}

	private static List<Long> randomRun(long seed) {
		List<Long> moments = new ArrayList<>();
		try (VirtualTime time = new VirtualTime(seed)) {
			for (int i = 0; i < 20; i++) {
				time.start(() -> {
					for (int step = 0; step < 10; step++) {
						time.sleep(Duration.ofNanos((long) (time.random() * 1e9)));
						moments.add(time.nanoTime());
					}
				});
			}
			time.run();
		}
		return moments;
	}

	@Test
	void timersRunInOrderUnlessTheyAreCancelled() {
		this.time.schedule(Duration.ofSeconds(2).toNanos(), () -> note("second"));
		this.time.schedule(Duration.ofSeconds(1).toNanos(), () -> note("first"));
		this.time.schedule(Duration.ofSeconds(1).toNanos(), () -> note("never")).cancel();
		this.time.runFor(Duration.ofSeconds(5));
		assertThat(this.events).containsExactly("first at PT1S", "second at PT2S");
		assertThat(this.time.elapsed()).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void aSignalEndsAWaitAtOnce() {
		List<Waiter> waiters = new ArrayList<>();
		this.time.start(() -> {
			waiters.add(this.time.waiter());
			note(await(waiters.get(0)));
			note(await(waiters.get(0)));
		});
		this.time.schedule(Duration.ofSeconds(1).toNanos(), () -> waiters.get(0).signal());
		this.time.run();
		assertThat(this.events).containsExactly("signalled at PT1S", "signalled at PT1S");
	}

	@Test
	void aWaitWithoutASignalEndsWithItsTime() {
		this.time.start(() -> note(await(this.time.waiter())));
		this.time.run();
		assertThat(this.events).containsExactly("timed out at PT1M");
	}

	@Test
	void anInterruptEndsAWaitAtOnce() {
		Thread thread = this.time.start(() -> note(await(this.time.waiter())));
		this.time.schedule(Duration.ofSeconds(1).toNanos(), () -> this.time.interrupt(thread));
		this.time.run();
		assertThat(this.events).containsExactly("interrupted at PT1S");
	}

	@Test
	void anExceptionOfACallerEndsTheSimulation() {
		this.time.start(() -> {
			throw new IllegalArgumentException("a bug");
		});
		assertThatExceptionOfType(AssertionError.class).isThrownBy(this.time::run)
			.withCauseInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void onlySimulatedCallersCanWait() {
		assertThatIllegalStateException().isThrownBy(() -> this.time.waiter().await(1))
			.withMessageContaining("start(..)");
	}

	@Test
	void closingEndsTheThreadsOfCallersWhereverTheyAre() throws InterruptedException {
		Thread waiting = this.time.start(() -> note(await(this.time.waiter())));
		Thread done = this.time.start(() -> note("done"));
		this.time.runFor(Duration.ofSeconds(1));
		this.time.close();
		waiting.join(TimeUnit.SECONDS.toMillis(10));
		done.join(TimeUnit.SECONDS.toMillis(10));
		assertThat(waiting.isAlive()).isFalse();
		assertThat(done.isAlive()).isFalse();
	}

	private static String await(Waiter waiter) {
		try {
			return waiter.await(Duration.ofMinutes(1).toNanos()) ? "signalled" : "timed out";
		}
		catch (InterruptedException ex) {
			return "interrupted";
		}
	}

	private void note(String event) {
		this.events.add(event + " at " + this.time.elapsed());
	}

}
