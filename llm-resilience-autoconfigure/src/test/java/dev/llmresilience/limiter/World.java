package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.VirtualTime;

/**
 * Callers, limiters and one provider with a network between them, as events of virtual
 * time: no threads, and the same seed gives the same run. The provider is a bucket that
 * deducts at arrival and answers a rejection with a whole-second Retry-After.
 */
final class World {

	private static final double SECOND = 1e9;

	final VirtualTime time;

	final List<Double> accepted = new ArrayList<>();

	final List<Double> sends = new ArrayList<>();

	final List<Call> calls = new ArrayList<>();

	private final double capacity;

	private double rate;

	private double level;

	private double last;

	int rejections;

	int taken;

	private double strayAt = Double.POSITIVE_INFINITY;

	World(long seed, double capacity, double rate) {
		this.time = new VirtualTime(seed);
		this.capacity = capacity;
		this.level = capacity;
		this.rate = rate;
	}

	RateLimiter limiter(double perSecond) {
		LimiterSettings settings = LimiterSettings.DEFAULTS.withMode(LimiterMode.ADAPTIVE);
		return new RateLimiter((perSecond > 0) ? settings.withRate(perSecond * 60, null) : settings, this.time);
	}

	void rateFrom(double at, double rate) {
		at(at, () -> {
			refill();
			this.rate = rate;
		});
	}

	void stray(double at) {
		this.strayAt = at;
	}

	/** Another client of the same key, which does not retry. */
	void other(double perSecond, double from, double to) {
		for (double t = from; t < to; t += 1 / perSecond) {
			at(t + this.time.random() / perSecond, () -> {
				if (serves()) {
					this.taken++;
				}
			});
		}
	}

	/** So many calls, at once or at a steady demand. */
	void feed(RateLimiter limiter, int count, double demand) {
		for (int i = 0; i < count; i++) {
			call(limiter, i / demand);
		}
	}

	void call(RateLimiter limiter, double at) {
		Call call = new Call(limiter, at);
		this.calls.add(call);
		at(at, () -> acquire(call, false));
	}

	void run(double seconds) {
		this.time.runFor(Duration.ofNanos((long) (seconds * SECOND)));
	}

	double now() {
		return this.time.nanoTime() / SECOND;
	}

	double lastAnswer() {
		return this.calls.stream().mapToDouble((call) -> call.done).max().orElse(0);
	}

	long lost() {
		return this.calls.stream().filter((call) -> call.done == Double.POSITIVE_INFINITY).count();
	}

	double rejectedPercent() {
		return 100.0 * this.rejections / this.sends.size();
	}

	private void at(double seconds, Runnable task) {
		this.time.schedule((long) (seconds * SECOND) - this.time.nanoTime(), task);
	}

	private void acquire(Call call, boolean retry) {
		long now = this.time.nanoTime();
		if (call.limiter.tryAcquire(call.permit, now)) {
			send(call);
			return;
		}
		Ticket ticket = call.limiter.enqueue(call.permit, now, now + Duration.ofDays(1).toNanos(), retry,
				() -> send(call));
		if (ticket.state() == State.GRANTED) {
			send(call);
		}
	}

	private void send(Call call) {
		this.sends.add(now());
		call.limiter.onSend(call.permit, this.time.nanoTime());
		if (call.left == Double.POSITIVE_INFINITY) {
			call.left = now();
		}
		at(now() + delay(), () -> {
			boolean served = serves();
			double seconds = Math.max(1, Math.ceil((1 - this.level) / this.rate - 1e-9));
			long hint = (long) (seconds * SECOND);
			if (served) {
				this.accepted.add(now());
			}
			at(now() + delay(), () -> answer(call, served, hint));
		});
	}

	private void answer(Call call, boolean served, long hint) {
		if (served) {
			call.limiter.onSuccess(call.permit, null);
			call.done = now();
			return;
		}
		this.rejections++;
		long wait = call.limiter.onRejected(call.permit, hint, List.of());
		this.time.schedule(wait, () -> {
			call.limiter.back(call.permit);
			acquire(call, true);
		});
	}

	private double delay() {
		return this.time.random() * 0.1;
	}

	private void refill() {
		this.level = Math.min(this.capacity, this.level + this.rate * (now() - this.last));
		this.last = now();
	}

	private boolean serves() {
		refill();
		if (now() >= this.strayAt) {
			this.strayAt = Double.POSITIVE_INFINITY;
			return false;
		}
		if (this.level < 1 - 1e-9) {
			return false;
		}
		this.level--;
		return true;
	}

	static final class Call {

		final RateLimiter limiter;

		final double born;

		final Permit permit;

		double left = Double.POSITIVE_INFINITY;

		double done = Double.POSITIVE_INFINITY;

		Call(RateLimiter limiter, double born) {
			this.limiter = limiter;
			this.born = born;
			this.permit = new Permit(limiter, Priority.NORMAL, 0, false, (long) (born * SECOND));
		}

	}

}
