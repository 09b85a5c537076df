package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import dev.llmresilience.sample.provider.TokenBucket.Reading;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TokenBucket}.
 */
class TokenBucketTests {

	private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000_000);

	private final TokenBucket bucket = new TokenBucket(new Limits(10, 20), this.now::get);

	@Test
	void gives_its_burst_at_once_and_no_more() {
		assertThat(takeAll()).isEqualTo(20);
	}

	@Test
	void gives_the_next_token_after_one_interval_and_not_before() {
		takeAll();
		pass(Duration.ofMillis(99));
		assertThat(this.bucket.take().taken()).isFalse();
		pass(Duration.ofMillis(1));
		assertThat(this.bucket.take().taken()).isTrue();
		assertThat(this.bucket.take().taken()).isFalse();
	}

	@Test
	void never_holds_more_than_its_burst() {
		pass(Duration.ofHours(1));
		assertThat(takeAll()).isEqualTo(20);
	}

	@Test
	void lets_a_call_through_every_tenth_of_a_second_without_drift() {
		takeAll();
		int taken = 0;
		for (int i = 0; i < 10_000; i++) {
			pass(Duration.ofMillis(100));
			taken += this.bucket.take().taken() ? 1 : 0;
		}
		assertThat(taken).isEqualTo(10_000);
	}

	@Test
	void says_how_long_until_the_next_token_and_until_it_is_full() {
		takeAll();
		pass(Duration.ofMillis(30));
		Reading reading = this.bucket.peek();
		assertThat(reading.untilNext()).isCloseTo(Duration.ofMillis(70), Duration.ofNanos(10));
		assertThat(reading.untilFull()).isCloseTo(Duration.ofMillis(1970), Duration.ofNanos(10));
		assertThat(reading.limit()).isEqualTo(20);
		assertThat(reading.remaining()).isZero();
	}

	@Test
	void rounds_the_wait_up_to_whole_seconds() {
		this.bucket.limits(new Limits(0.4, 1));
		takeAll();
		assertThat(this.bucket.peek().retryAfterSeconds()).isEqualTo(3);
		pass(Duration.ofMillis(1500));
		assertThat(this.bucket.peek().retryAfterSeconds()).isOne();
		pass(Duration.ofSeconds(1));
		assertThat(this.bucket.peek().untilNext()).isZero();
		assertThat(this.bucket.peek().retryAfterSeconds()).isOne();
	}

	@Test
	void is_full_after_a_change_of_limits() {
		takeAll();
		this.bucket.limits(new Limits(1, 3));
		assertThat(this.bucket.peek().remaining()).isEqualTo(3);
		assertThat(takeAll()).isEqualTo(3);
	}

	private int takeAll() {
		int taken = 0;
		while (this.bucket.take().taken()) {
			taken++;
		}
		return taken;
	}

	private void pass(Duration duration) {
		this.now.addAndGet(duration.toNanos());
	}

}
