package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.LimitSnapshot.Origin;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A limiter whose settings change while it is at work.
 */
class LimiterChangesTests {

	private static final LimiterSettings FIXED = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED);

	private static final LimiterSettings SLOW = FIXED.withRate(60.0, 1);

	private final VirtualTime time = new VirtualTime(1);

	private Permit permit() {
		return new Permit(this, Priority.NORMAL, 100, false, this.time.nanoTime());
	}

	private Permit leave(RateLimiter limiter) {
		Permit permit = permit();
		assertThat(limiter.tryAcquire(permit, this.time.nanoTime())).isTrue();
		limiter.onSend(permit, this.time.nanoTime());
		return permit;
	}

	private Ticket queue(RateLimiter limiter) {
		long now = this.time.nanoTime();
		return limiter.enqueue(permit(), now, now + Duration.ofHours(1).toNanos(), false, () -> {
		});
	}

	@Test
	void thoseWhoWaitFollowAHigherRateAtOnce() {
		RateLimiter limiter = new RateLimiter(SLOW, this.time);
		leave(limiter);
		Ticket first = queue(limiter);
		Ticket second = queue(limiter);
		this.time.runFor(Duration.ofMillis(100));
		assertThat(first.state()).isEqualTo(State.WAITING);
		limiter.configure(FIXED.withRate(6000.0, 10));
		this.time.runFor(Duration.ofMillis(100));
		assertThat(first.state()).isEqualTo(State.GRANTED);
		assertThat(second.state()).isEqualTo(State.GRANTED);
	}

	@Test
	void aRateThatGoesAwayLetsEveryCallPass() {
		for (LimiterSettings settings : List.of(SLOW, SLOW.withMode(LimiterMode.ADAPTIVE))) {
			RateLimiter limiter = new RateLimiter(settings, this.time);
			leave(limiter);
			Ticket waiting = queue(limiter);
			limiter.configure(settings.withRate(null, null));
			assertThat(waiting.state()).isEqualTo(State.GRANTED);
			assertThat(limiter.requestsPerMinute()).isNull();
		}
	}

	@Test
	void aRateThatComesPacesFromThenOn() {
		for (LimiterSettings settings : List.of(FIXED, LimiterSettings.DEFAULTS)) {
			RateLimiter limiter = new RateLimiter(settings, this.time);
			limiter.configure(settings.withRate(60.0, 1));
			leave(limiter);
			assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isFalse();
		}
	}

	@Test
	void whatWasLearntStaysWhereTheRateIsNotAnother() {
		LimiterSettings settings = LimiterSettings.DEFAULTS.withRate(600.0, 20);
		RateLimiter limiter = new RateLimiter(settings, this.time);
		limiter.onRejected(leave(limiter), Duration.ofSeconds(5).toNanos(), List.of());
		Double learnt = limiter.requestsPerMinute();
		limiter.configure(settings.withWaiting(Duration.ofSeconds(1), 5));
		assertThat(limiter.requestsPerMinute()).isEqualTo(learnt);
		assertThat(limiter.snapshot().limits().get(0).origin()).isEqualTo(Origin.LEARNT);
		limiter.configure(settings.withRate(300.0, 20));
		assertThat(limiter.requestsPerMinute()).isEqualTo(300);
	}

	@Test
	void aLimitOnTokensComesAndGoes() {
		RateLimiter limiter = new RateLimiter(FIXED, this.time);
		limiter.configure(FIXED.withTokens(new TokenLimits(1000.0, null, 500.0, 100L)));
		assertThat(limiter.countsTokens()).isTrue();
		assertThat(limiter.snapshot().limits()).extracting((limit) -> Math.round(limit.perMinute()))
			.containsExactly(1000L, 500L);
		limiter.configure(FIXED);
		assertThat(limiter.countsTokens()).isFalse();
		assertThat(limiter.snapshot().limits()).isEmpty();
	}

	@Test
	void howManyMayBeInFlightChanges() {
		RateLimiter limiter = new RateLimiter(FIXED.withMaxConcurrentCalls(1), this.time);
		Permit first = leave(limiter);
		Ticket second = queue(limiter);
		assertThat(second.state()).isEqualTo(State.WAITING);
		limiter.configure(FIXED.withMaxConcurrentCalls(2));
		assertThat(second.state()).isEqualTo(State.GRANTED);
		limiter.configure(FIXED.withMaxConcurrentCalls(1));
		limiter.onSuccess(first, null);
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isFalse();
		assertThat(limiter.inFlight()).isEqualTo(1);
	}

	@Test
	void howLongMayBeWaitedChangesForThoseToCome() {
		RateLimiter limiter = new RateLimiter(SLOW, this.time);
		leave(limiter);
		Ticket before = queue(limiter);
		limiter.configure(SLOW.withWaiting(Duration.ofMillis(10), null));
		assertThat(before.state()).isEqualTo(State.WAITING);
		assertThat(queue(limiter).state()).isEqualTo(State.REFUSED_MAX_WAIT);
	}

	@Test
	void whatIsOutOfItsRangeIsRefusedAndChangesNothing() {
		RateLimiter limiter = new RateLimiter(SLOW, this.time);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> limiter.configure(FIXED.withRate(-1.0, 5).withMaxConcurrentCalls(3)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> limiter.configure(FIXED.withRate(600.0, 5).withMaxConcurrentCalls(0)));
		assertThat(limiter.requestsPerMinute()).isEqualTo(60);
		assertThat(limiter.settings()).isEqualTo(SLOW);
	}

	@Test
	void aLimiterThatIsOffStaysOff() {
		LimiterSettings off = SLOW.withMode(LimiterMode.OFF);
		RateLimiter limiter = new RateLimiter(off, this.time);
		limiter.configure(off.withRate(30.0, 1).withMaxConcurrentCalls(1));
		leave(limiter);
		leave(limiter);
		assertThat(limiter.requestsPerMinute()).isNull();
	}

}
