package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers of one limiter that do one random thing after the other in virtual time.
 */
final class Traffic {

	private static final Object[] OWNERS = { "a", "b" };

	private final VirtualTime time = new VirtualTime(7);

	private final LimiterSettings settings;

	private final RateLimiter limiter;

	private final List<Call> calls = new ArrayList<>();

	private double highestRate;

	private double highestBurst;

	private boolean givesBackLate = true;

	/** From here on whoever leaves is answered a moment later. */
	private boolean ending;

	Traffic(LimiterSettings settings) {
		this.settings = settings;
		this.limiter = new RateLimiter(settings, this.time);
		Limit limit = Limit.ofRequests(settings);
		this.highestRate = (limit != null) ? limit.perSecond() : Double.POSITIVE_INFINITY;
		this.highestBurst = (limit != null) ? limit.capacity() : Double.POSITIVE_INFINITY;
	}

	/**
	 * What is given back late may have come in a second time by then, so that a window
	 * can hold it twice.
	 */
	Traffic givingBackAtOnce() {
		this.givesBackLate = false;
		return this;
	}

	RateLimiter limiter() {
		return this.limiter;
	}

	double highestRate() {
		return this.highestRate;
	}

	double highestBurst() {
		return this.highestBurst;
	}

	double level() {
		return this.limiter.level();
	}

	long placesHeld() {
		return this.calls.stream().filter((call) -> call.underWay).count();
	}

	void take(Step step) {
		Call chosen = this.calls.isEmpty() ? null : this.calls.get(step.amount() % this.calls.size());
		switch (step.kind()) {
			case JOIN_BRIEFLY -> new Call(OWNERS[step.amount() % 2], step.priority(), 10L * step.amount())
				.within(Duration.ofMillis(20L * step.amount()))
				.join(false);
			case JOIN, CROWD -> {
				int count = (step.kind() == Kind.CROWD) ? step.amount() % 20 : 1;
				for (int i = 0; i <= count; i++) {
					new Call(OWNERS[step.amount() % 2], step.priority(), 10L * step.amount()).join(false);
				}
			}
			case PASS -> pass(step.amount() / 100.0);
			case PASS_LONG -> pass(step.amount() / 10.0);
			case SET_RATE -> setRate(1 + 3.0 * step.amount());
			case REFUSE -> this.limiter.refuseWaiting(OWNERS[step.amount() % 2]);
			default -> {
				if (chosen != null) {
					chosen.take(step);
				}
			}
		}
	}

	private void setRate(double perMinute) {
		Limit limit = Limit.ofRequests(perMinute, this.settings);
		this.highestRate = Math.max(this.highestRate, limit.perSecond());
		this.highestBurst = Math.max(this.highestBurst, limit.capacity());
		this.limiter.setRequestsPerMinute(perMinute);
	}

	private void pass(double seconds) {
		this.time.runFor(Duration.ofNanos((long) (seconds * 1e9)));
	}

	/** Nobody comes any more, and whoever is on its way is answered. */
	void comeToAnEnd() {
		this.ending = true;
		List.copyOf(this.calls).forEach(Call::answer);
		this.time.runFor(Duration.ofDays(2));
	}

	void assertThatNobodyWaits() {
		assertThat(this.limiter.waiting()).isZero();
		assertThat(this.calls).noneMatch((call) -> call.ticket != null && call.ticket.isWaiting());
	}

	void assertThatNobodyWaitsTooLong() {
		assertThat(this.calls).noneMatch((call) -> call.wasLate
				|| (call.ticket != null && call.ticket.isWaiting() && call.deadline - this.time.nanoTime() < 0));
	}

	/** A bucket of that burst and rate never runs dry, which says it of every window. */
	void assertThatNoWindowHasMoreCallsThan(double burst, double perSecond) {
		assertThatABucketSuffices(burst, perSecond, 0);
	}

	void assertThatNoWindowHasMoreTokensThan(double perMinute) {
		assertThatABucketSuffices(perMinute, perMinute / 60, 1);
	}

	private void assertThatABucketSuffices(double capacity, double perSecond, int dimension) {
		double used = 0;
		long last = 0;
		for (Departure departure : departures(dimension)) {
			used = Math.max(0, used - perSecond * (departure.at() - last) / 1e9);
			last = departure.at();
			// One that is larger than the whole bucket leaves when that is full.
			assertThat(used + Math.min(departure.cost(), capacity)).isLessThanOrEqualTo(capacity * (1 + 1e-6) + 1e-6);
			used += departure.cost();
		}
	}

	private List<Departure> departures(int dimension) {
		return this.calls.stream()
			.flatMap((call) -> call.departures.stream())
			.filter((departure) -> !departure.undone && departure.costs[dimension] > 0)
			.sorted((one, other) -> Long.compare(one.at, other.at))
			.toList()
			.stream()
			.map((departure) -> departure.of(dimension))
			.toList();
	}

	enum Kind {

		JOIN, JOIN_BRIEFLY, CROWD, PASS, PASS_LONG, LEAVE, ANSWER, FAIL, FAIL_UNUSED, REJECT, GIVE_BACK, REFUSE,
		SET_RATE

	}

	/**
	 * One thing that happens.
	 *
	 * @param kind what
	 * @param amount how much, how long, or to whom
	 * @param priority how urgent
	 */
	record Step(Kind kind, int amount, Priority priority) {
	}

	private record Departure(long at, double cost) {
	}

	/** When an attempt left, what it was charged, and whether that was given back. */
	private static final class Left {

		private final long at;

		private final double[] costs;

		private boolean undone;

		Left(long at, double... costs) {
			this.at = at;
			this.costs = costs;
		}

		Departure of(int dimension) {
			return new Departure(this.at, this.costs[dimension]);
		}

	}

	private final class Call {

		private final Permit permit;

		private final List<Left> departures = new ArrayList<>();

		private @Nullable Ticket ticket;

		private Duration patience = Duration.ofDays(30);

		private long deadline;

		private boolean wasLate;

		private boolean underWay;

		Call(Object owner, Priority priority, long tokens) {
			this.permit = new Permit(owner, priority, tokens, false, Traffic.this.time.nanoTime());
			Traffic.this.calls.add(this);
		}

		Call within(Duration patience) {
			this.patience = patience;
			return this;
		}

		void join(boolean retry) {
			long now = Traffic.this.time.nanoTime();
			this.deadline = now + this.patience.toNanos();
			if (Traffic.this.limiter.tryAcquire(this.permit, now)) {
				leave();
				return;
			}
			Ticket joined = Traffic.this.limiter.enqueue(this.permit, now, this.deadline, retry, this::told);
			this.ticket = joined;
			if (joined.state() == State.GRANTED) {
				leave();
			}
		}

		private void told() {
			this.wasLate |= Traffic.this.time.nanoTime() - this.deadline > 0;
			if (this.ticket != null && this.ticket.state() == State.GRANTED) {
				leave();
			}
		}

		private void leave() {
			long now = Traffic.this.time.nanoTime();
			this.underWay = true;
			this.departures.add(new Left(now, this.permit.charged(0), this.permit.charged(1)));
			Traffic.this.limiter.onSend(this.permit, now);
			if (Traffic.this.ending) {
				Traffic.this.time.schedule(1_000_000, this::answer);
			}
		}

		void take(Step step) {
			if (!this.underWay) {
				if (step.kind() == Kind.LEAVE && this.ticket != null) {
					Traffic.this.limiter.leave(this.ticket);
				}
				return;
			}
			boolean givesBack = step.kind() == Kind.GIVE_BACK || step.kind() == Kind.FAIL_UNUSED;
			if (givesBack && !Traffic.this.givesBackLate && last().at != Traffic.this.time.nanoTime()) {
				return;
			}
			switch (step.kind()) {
				case ANSWER -> answer();
				case FAIL, FAIL_UNUSED -> fail(step.kind() == Kind.FAIL);
				case REJECT -> reject(step.amount());
				case GIVE_BACK -> giveBack();
				default -> {
				}
			}
		}

		void answer() {
			if (this.underWay) {
				this.underWay = false;
				Traffic.this.limiter.onSuccess(this.permit, null);
			}
		}

		private void fail(boolean counted) {
			this.underWay = false;
			last().undone = !counted;
			Traffic.this.limiter.onFailure(this.permit, counted);
			join(true);
		}

		private void giveBack() {
			this.underWay = false;
			last().undone = true;
			Traffic.this.limiter.giveBack(this.permit);
		}

		private void reject(int amount) {
			this.underWay = false;
			last().costs[1] = 0;
			long hint = (amount % 3 == 0) ? -1 : amount * 10_000_000L;
			long wait = Traffic.this.limiter.onRejected(this.permit, hint, List.of());
			Traffic.this.time.schedule(wait, () -> {
				Traffic.this.limiter.back(this.permit);
				join(true);
			});
		}

		private Left last() {
			return this.departures.get(this.departures.size() - 1);
		}

	}

}
