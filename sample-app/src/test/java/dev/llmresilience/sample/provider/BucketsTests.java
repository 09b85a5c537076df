package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import dev.llmresilience.sample.provider.Bucket.Level;
import dev.llmresilience.sample.provider.Buckets.Reading;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Buckets}.
 */
class BucketsTests {

	private static final Limits TOKENS = new Limits(10, 20, null, 600);

	private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000_000);

	private final Buckets buckets = new Buckets(new Limits(10, 20), this.now::get);

	@Test
	void gives_its_burst_at_once_and_no_more() {
		assertThat(takeAll()).isEqualTo(20);
	}

	@Test
	void gives_the_next_token_after_one_interval_and_not_before() {
		takeAll();
		pass(Duration.ofMillis(99));
		assertThat(this.buckets.take(0).taken()).isFalse();
		pass(Duration.ofMillis(1));
		assertThat(this.buckets.take(0).taken()).isTrue();
		assertThat(this.buckets.take(0).taken()).isFalse();
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
			taken += this.buckets.take(0).taken() ? 1 : 0;
		}
		assertThat(taken).isEqualTo(10_000);
	}

	@Test
	void says_how_long_until_the_next_token_and_until_it_is_full() {
		takeAll();
		pass(Duration.ofMillis(30));
		Reading reading = this.buckets.peek(0);
		assertThat(reading.requests().untilEnough()).isCloseTo(Duration.ofMillis(70), Duration.ofNanos(10));
		assertThat(reading.untilFull()).isCloseTo(Duration.ofMillis(1970), Duration.ofNanos(10));
		assertThat(reading.requests().limit()).isEqualTo(20);
		assertThat(reading.requests().remaining()).isZero();
	}

	@Test
	void rounds_the_wait_up_to_whole_seconds() {
		this.buckets.limits(new Limits(0.4, 1));
		takeAll();
		assertThat(this.buckets.peek(0).retryAfterSeconds()).isEqualTo(3);
		pass(Duration.ofMillis(1500));
		assertThat(this.buckets.peek(0).retryAfterSeconds()).isOne();
		pass(Duration.ofSeconds(1));
		assertThat(this.buckets.peek(0).requests().untilEnough()).isZero();
		assertThat(this.buckets.peek(0).retryAfterSeconds()).isOne();
	}

	@Test
	void is_full_after_a_change_of_limits() {
		takeAll();
		this.buckets.limits(new Limits(1, 3));
		assertThat(this.buckets.peek(0).requests().remaining()).isEqualTo(3);
		assertThat(takeAll()).isEqualTo(3);
	}

	@Test
	void a_request_takes_its_tokens_too_where_they_are_limited() {
		this.buckets.limits(TOKENS);
		Reading reading = this.buckets.take(250);
		assertThat(reading.taken()).isTrue();
		assertThat(reading.requests().remaining()).isEqualTo(19);
		assertThat(reading.tokens()).isEqualTo(new Level(600, 350, 250, Duration.ZERO, Duration.ofSeconds(25)));
		assertThat(reading.untilFull()).isEqualTo(Duration.ofSeconds(25));
	}

	@Test
	void a_request_whose_tokens_are_not_there_takes_nothing_and_learns_when_they_are() {
		this.buckets.limits(TOKENS);
		this.buckets.take(500);
		Reading reading = this.buckets.take(250);
		assertThat(reading.taken()).isFalse();
		assertThat(reading.scarceTokens()).isEqualTo(reading.tokens());
		assertThat(reading.requests().remaining()).isEqualTo(19);
		assertThat(reading.tokens())
			.isEqualTo(new Level(600, 100, 250, Duration.ofSeconds(15), Duration.ofSeconds(50)));
		assertThat(reading.retryAfterSeconds()).isEqualTo(15);
		pass(Duration.ofSeconds(15));
		assertThat(this.buckets.take(250).taken()).isTrue();
	}

	@Test
	void a_request_whose_turn_has_not_come_takes_no_tokens() {
		this.buckets.limits(TOKENS);
		assertThat(takeAll()).isEqualTo(20);
		Reading reading = this.buckets.take(100);
		assertThat(reading.taken()).isFalse();
		assertThat(reading.scarceTokens()).isNull();
		assertThat(this.buckets.peek(600).tokens()).extracting(Level::remaining).isEqualTo(600);
	}

	@Test
	void a_request_of_more_tokens_than_there_ever_are_has_no_time_to_come_back() {
		this.buckets.limits(TOKENS);
		Reading reading = this.buckets.take(601);
		assertThat(reading.taken()).isFalse();
		assertThat(reading.isTooLarge()).isTrue();
		assertThat(reading.retryAfterSeconds()).isNull();
	}

	private int takeAll() {
		int taken = 0;
		while (this.buckets.take(0).taken()) {
			taken++;
		}
		return taken;
	}

	private void pass(Duration duration) {
		this.now.addAndGet(duration.toNanos());
	}

}
