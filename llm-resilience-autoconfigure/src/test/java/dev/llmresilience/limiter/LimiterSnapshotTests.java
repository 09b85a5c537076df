package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.LimitSnapshot.Origin;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a limiter says about itself.
 */
class LimiterSnapshotTests {

	private final VirtualTime time = new VirtualTime(1);

	private Permit leave(RateLimiter limiter) {
		Permit permit = new Permit(this, Priority.NORMAL, 0, false, this.time.nanoTime());
		assertThat(limiter.tryAcquire(permit, this.time.nanoTime())).isTrue();
		limiter.onSend(permit, this.time.nanoTime());
		return permit;
	}

	private static LimitSnapshot requests(RateLimiter limiter) {
		assertThat(limiter.snapshot().limits()).hasSize(1);
		LimitSnapshot limit = limiter.snapshot().limits().get(0);
		assertThat(limit.dimension()).isEqualTo(Dimension.REQUESTS);
		return limit;
	}

	@Test
	void anAdaptiveLimiterWithoutARateHasNoLimitsAndCountsItsCalls() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS, this.time);
		Permit permit = leave(limiter);
		assertThat(limiter.snapshot()).isEqualTo(new LimiterSnapshot(null, List.of(), 0, 1L));
		limiter.onSuccess(permit, null);
		assertThat(limiter.snapshot().inFlight()).isZero();
	}

	@Test
	void aConfiguredRateIsThatOfAllProcessesAndTheLimitThatOfThisOne() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withRate(600.0, 20).withShare(0.25, null),
				this.time);
		assertThat(limiter.snapshot().configuredRequestsPerMinute()).isEqualTo(600);
		assertThat(requests(limiter))
			.isEqualTo(new LimitSnapshot(Dimension.REQUESTS, 150, Origin.CONFIGURED, 5, 5, null));
	}

	@Test
	void aRateThatWasSetIsTheConfiguredOne() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS, this.time);
		limiter.setRequestsPerMinute(120);
		assertThat(limiter.snapshot().configuredRequestsPerMinute()).isEqualTo(120);
		assertThat(requests(limiter).origin()).isEqualTo(Origin.CONFIGURED);
	}

	@Test
	void aRateThatRejectionsHaveShownIsLearnt() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withRate(600.0, 20), this.time);
		limiter.onRejected(leave(limiter), Duration.ofSeconds(5).toNanos(), List.of());
		assertThat(requests(limiter).origin()).isEqualTo(Origin.LEARNT);
		assertThat(requests(limiter).perMinute()).isLessThan(600);
		assertThat(requests(limiter).pausedUntil()).isEqualTo(this.time.now().plusSeconds(5));
	}

	@Test
	void aPauseThatIsOverIsNone() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 20),
				this.time);
		limiter.onRejected(leave(limiter), Duration.ofSeconds(5).toNanos(), List.of());
		assertThat(requests(limiter).pausedUntil()).isNotNull();
		this.time.runFor(Duration.ofSeconds(6));
		assertThat(requests(limiter).pausedUntil()).isNull();
		assertThat(requests(limiter).origin()).isEqualTo(Origin.CONFIGURED);
	}

	@Test
	void aRateThatResponsesTellOfIsAnnounced() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS, this.time);
		Permit permit = leave(limiter);
		this.time.runFor(Duration.ofMillis(100));
		limiter.onLimits(permit.sent(), List
			.of(new RateLimitSnapshot(Dimension.REQUESTS, 100, 50, Duration.ofSeconds(30), Duration.ofMillis(1))));
		assertThat(requests(limiter).origin()).isEqualTo(Origin.ANNOUNCED);
		assertThat(requests(limiter).perMinute()).isBetween(90.0, 110.0);
	}

	@Test
	void whereConcurrencyIsLimitedThePlacesAreCounted() {
		RateLimiter limiter = new RateLimiter(
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withMaxConcurrentCalls(2), this.time);
		leave(limiter);
		assertThat(limiter.snapshot().inFlight()).isEqualTo(1);
	}

	@Test
	void aLimiterThatIsOffKnowsNothing() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), this.time);
		leave(limiter);
		assertThat(limiter.snapshot()).isEqualTo(new LimiterSnapshot(null, List.of(), 0, null));
	}

}
