package dev.llmresilience.breaker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.breaker.QuotaLatch.Permit;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class QuotaLatchTests {

	private static final Instant START = VirtualTime.DEFAULT_START;

	private static final Duration COOL_DOWN = Duration.ofMinutes(5);

	private final SettableTime time = new SettableTime();

	private final List<QuotaTransition> transitions = new ArrayList<>();

	private final QuotaLatch latch = new QuotaLatch("account", COOL_DOWN, this.time, this.transitions::add);

	@Test
	void letsAllPassUntilItIsLatched() {
		assertThat(this.latch.tryAcquire()).isNotNull();
		this.latch.latch("spend_limit", null);
		assertThat(this.latch.isLatched()).isTrue();
		assertThat(this.latch.tryAcquire()).isNull();
	}

	@Test
	void letsOneProbeOutPerCoolDown() {
		this.latch.latch("spend_limit", null);
		this.time.advance(COOL_DOWN.minusNanos(1));
		assertThat(this.latch.tryAcquire()).isNull();
		this.time.advance(Duration.ofNanos(1));
		assertThat(this.latch.tryAcquire()).isNotNull();
		assertThat(this.latch.tryAcquire()).isNull();
	}

	@Test
	void aProbeGoesOutEvenWhenTheProviderNamedALaterReset() {
		this.latch.latch("spend_limit", START.plus(Duration.ofDays(30)));
		this.time.advance(COOL_DOWN);
		assertThat(this.latch.tryAcquire()).isNotNull();
		assertThat(this.latch.resetAt()).isEqualTo(START.plus(Duration.ofDays(30)));
	}

	@Test
	void theCoolDownDoublesToAnHourWithEachProbeThatFindsItExhausted() {
		this.latch.latch("spend_limit", null);
		List<Long> minutes = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			minutes.add(untilProbe().toMinutes());
			probe().exhausted();
		}
		assertThat(minutes).containsExactly(5L, 10L, 20L, 40L, 60L, 60L);
	}

	@Test
	void aSuccessfulProbeClearsIt() {
		this.latch.latch("spend_limit", null);
		probe().success();
		assertThat(this.latch.isLatched()).isFalse();
		assertThat(this.latch.tryAcquire()).isNotNull();
		assertThat(this.latch.nextProbeAt()).isNull();
	}

	@Test
	void clearingStartsTheCoolDownAgain() {
		this.latch.latch("spend_limit", null);
		probe().exhausted();
		probe().success();
		this.latch.latch("spend_limit", null);
		assertThat(untilProbe()).isEqualTo(COOL_DOWN);
	}

	@Test
	void aSuccessThatWasSentBeforeItLatchedDoesNotClearIt() {
		Permit early = permit();
		this.latch.latch("spend_limit", null);
		early.success();
		assertThat(this.latch.isLatched()).isTrue();
	}

	@Test
	void aProbeOverdueByACoolDownIsFollowedByAnotherAndThenChangesNothing() {
		this.latch.latch("spend_limit", null);
		Permit hanging = probe();
		Permit next = probe();
		hanging.success();
		assertThat(this.latch.isLatched()).isTrue();
		next.success();
		assertThat(this.latch.isLatched()).isFalse();
	}

	@Test
	void aNeutralProbeLetsTheNextCallerProbe() {
		this.latch.latch("spend_limit", null);
		probe().neutral();
		Permit next = permit();
		assertThat(this.latch.tryAcquire()).isNull();
		next.success();
		assertThat(this.latch.isLatched()).isFalse();
	}

	@Test
	void latchingAgainKeepsTheFirstReasonAndTheProbesTime() {
		this.latch.latch("spend_limit", START.plusSeconds(3600));
		this.time.advance(Duration.ofMinutes(1));
		this.latch.latch("other", null);
		assertThat(this.latch.resetAt()).isEqualTo(START.plusSeconds(3600));
		assertThat(this.latch.nextProbeAt()).isEqualTo(START.plus(COOL_DOWN));
		assertThat(this.transitions).hasSize(1);
	}

	@Test
	void anOperatorClearsIt() {
		this.latch.latch("spend_limit", null);
		this.latch.clear();
		this.latch.clear();
		assertThat(this.latch.tryAcquire()).isNotNull();
		assertThat(this.transitions).hasSize(2);
	}

	@Test
	void tellsOfEachTransitionOnce() {
		Instant reset = START.plusSeconds(7200);
		this.latch.latch("spend_limit", reset);
		probe().exhausted();
		probe().success();
		Instant cleared = START.plus(COOL_DOWN.multipliedBy(3));
		assertThat(this.transitions).containsExactly(
				new QuotaTransition("account", true, "spend_limit", reset, START.plus(COOL_DOWN), START),
				new QuotaTransition("account", false, "spend_limit", reset, null, cleared));
	}

	private Permit permit() {
		@Nullable Permit permit = this.latch.tryAcquire();
		return Objects.requireNonNull(permit, "refused");
	}

	private Permit probe() {
		this.time.advance(untilProbe());
		return permit();
	}

	private Duration untilProbe() {
		return Duration.between(this.time.now(), Objects.requireNonNull(this.latch.nextProbeAt()));
	}

}
