package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.VirtualTime;

/**
 * Callers, limiters and one provider with a network between them, as events of virtual
 * time: no threads, and the same seed gives the same run. The provider has buckets that
 * deduct the actual cost at arrival, and answers a rejection with a whole-second
 * Retry-After unless told otherwise.
 */
final class World {

	static final double AT_ONCE = Double.POSITIVE_INFINITY;

	private static final double SECOND = 1e9;

	final VirtualTime time;

	final List<Double> accepted = new ArrayList<>();

	final List<Double> sends = new ArrayList<>();

	final List<Call> calls = new ArrayList<>();

	/** What callers know of the first limit, the newest last. */
	final List<Told> told = new ArrayList<>();

	private final List<Supply> supplies = new ArrayList<>();

	int rejections;

	int taken;

	private double strayAt = Double.POSITIVE_INFINITY;

	private double longestDelay = 0.1;

	private double longestService;

	private double headerUnit;

	private long toldOf;

	private Hint hint = Hint.WHOLE_SECONDS;

	World(long seed) {
		this.time = new VirtualTime(seed);
	}

	World(long seed, double capacity, double rate) {
		this(seed);
		limit(Dimension.REQUESTS, capacity, rate);
	}

	/** The provider limits something, from a full bucket. */
	Supply limit(Dimension dimension, double capacity, double rate) {
		Supply supply = new Supply(dimension, capacity, rate);
		this.supplies.add(supply);
		return supply;
	}

	/** Network delay each way from none to the longest, and the time of an answer. */
	World network(double longestDelay, double longestService) {
		this.longestDelay = longestDelay;
		this.longestService = longestService;
		return this;
	}

	/** Rate headers on every response, their reset rounded up to a unit of seconds. */
	World headers(double unit) {
		this.headerUnit = unit;
		return this;
	}

	World hint(Hint hint) {
		this.hint = hint;
		return this;
	}

	RateLimiter limiter(double perSecond) {
		return limiter(
				(perSecond > 0) ? LimiterSettings.DEFAULTS.withRate(perSecond * 60, null) : LimiterSettings.DEFAULTS);
	}

	RateLimiter limiter(LimiterSettings settings) {
		return new RateLimiter(settings, this.time);
	}

	void rateFrom(double at, double rate) {
		Supply supply = this.supplies.get(0);
		at(at, () -> supply.change(supply.capacity, rate));
	}

	void limitFrom(double at, double capacity, double rate) {
		at(at, () -> this.supplies.get(0).change(capacity, rate));
	}

	void stray(double at) {
		this.strayAt = at;
	}

	/** Another client of the same key, which does not retry. */
	void other(double perSecond, double from, double to) {
		for (double t = from; t < to; t += 1 / perSecond) {
			at(t + this.time.random() / perSecond, () -> {
				if (serves(0)) {
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

	Call call(RateLimiter limiter, double at) {
		return call(limiter, at, Priority.NORMAL, 0, 0);
	}

	/** A call that is estimated to use some tokens and will use others. */
	Call call(RateLimiter limiter, double at, Priority priority, long estimate, long tokens) {
		Call call = new Call(limiter, at, priority, estimate, tokens);
		this.calls.add(call);
		at(at, () -> acquire(call, false));
		return call;
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

	double lastAccepted() {
		return this.accepted.isEmpty() ? 0 : this.accepted.get(this.accepted.size() - 1);
	}

	long lost() {
		return this.calls.stream().filter((call) -> call.done == Double.POSITIVE_INFINITY).count();
	}

	double rejectedPercent() {
		return 100.0 * this.rejections / this.sends.size();
	}

	void at(double seconds, Runnable task) {
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
		at(now() + delay(), () -> arrive(call));
	}

	private void arrive(Call call) {
		boolean served = serves(call.tokens);
		long wait = served ? 0 : hintFor(call.tokens);
		List<RateLimitSnapshot> limits = this.supplies.stream()
			.filter((supply) -> this.headerUnit > 0)
			.map((supply) -> supply.snapshot(this.headerUnit))
			.toList();
		if (served) {
			this.accepted.add(now());
			call.served = now();
		}
		Supply first = this.supplies.get(0);
		Told told = new Told(0, first.capacity, first.rate);
		double service = served ? this.longestService * this.time.random() : 0;
		at(now() + service + delay(), () -> {
			tell(call.permit.sent(), told);
			answer(call, served, wait, limits);
		});
	}

	/** An older response than one that was heard before tells nothing. */
	private void tell(long sent, Told told) {
		if (this.headerUnit > 0 && sent >= this.toldOf) {
			this.toldOf = sent;
			this.told.add(new Told(now(), told.limit(), told.perSecond()));
		}
	}

	private void answer(Call call, boolean served, long hint, List<RateLimitSnapshot> limits) {
		call.limiter.onLimits(call.permit.sent(), limits);
		if (served) {
			call.limiter.onSuccess(call.permit, (call.tokens > 0) ? new TokenUsage(call.tokens, 0) : null);
			call.done = now();
			return;
		}
		this.rejections++;
		long wait = call.limiter.onRejected(call.permit, hint, limits);
		this.time.schedule(wait, () -> {
			call.limiter.back(call.permit);
			acquire(call, true);
		});
	}

	private double delay() {
		return this.time.random() * this.longestDelay;
	}

	private boolean serves(long tokens) {
		if (now() >= this.strayAt) {
			this.strayAt = Double.POSITIVE_INFINITY;
			return false;
		}
		if (!this.supplies.stream().allMatch((supply) -> supply.has(tokens))) {
			return false;
		}
		this.supplies.forEach((supply) -> supply.take(tokens));
		return true;
	}

	private long hintFor(long tokens) {
		double seconds = this.supplies.stream().mapToDouble((supply) -> supply.secondsFor(tokens)).max().orElse(0);
		return switch (this.hint) {
			case WHOLE_SECONDS -> (long) (Math.max(1, Math.ceil(seconds - 1e-9)) * SECOND);
			case EXACT -> (long) (seconds * SECOND);
			case NONE -> -1;
		};
	}

	enum Hint {

		WHOLE_SECONDS, EXACT, NONE

	}

	/**
	 * A limit that callers know of.
	 *
	 * @param at since when, in seconds
	 * @param limit what can be used at once
	 * @param perSecond what comes back in a second
	 */
	record Told(double at, double limit, double perSecond) {

		Told orMore(Told other) {
			return new Told(this.at, Math.max(this.limit, other.limit), Math.max(this.perSecond, other.perSecond));
		}

		Told times(double factor) {
			return new Told(this.at, factor * this.limit, factor * this.perSecond);
		}

	}

	/** What the provider has of something. */
	final class Supply {

		private final Dimension dimension;

		private double capacity;

		private double rate;

		private double level;

		private double last;

		/** All that it could have served. */
		private double could;

		double served;

		Supply(Dimension dimension, double capacity, double rate) {
			this.dimension = dimension;
			this.capacity = capacity;
			this.rate = rate;
			this.level = capacity;
			this.could = capacity;
		}

		/** Others have used the rest. */
		void left(double level) {
			refill();
			this.level = level;
		}

		void change(double capacity, double rate) {
			refill();
			this.capacity = capacity;
			this.rate = rate;
			this.level = Math.min(capacity, this.level);
		}

		private void refill() {
			double came = this.rate * (now() - this.last);
			this.could += came;
			this.level = Math.min(this.capacity, this.level + came);
			this.last = now();
		}

		private double cost(long tokens) {
			return (this.dimension == Dimension.REQUESTS) ? 1 : tokens;
		}

		private boolean has(long tokens) {
			refill();
			return this.level >= cost(tokens) - 1e-9;
		}

		private void take(long tokens) {
			this.level -= cost(tokens);
			this.served += cost(tokens);
		}

		private double secondsFor(long tokens) {
			return Math.max(0, cost(tokens) - this.level) / this.rate;
		}

		RateLimitSnapshot snapshot(double unit) {
			double reset = Math.ceil((this.capacity - this.level) / this.rate / unit) * unit;
			return new RateLimitSnapshot(this.dimension, this.capacity, Math.floor(this.level),
					Duration.ofNanos((long) (reset * SECOND)), Duration.ofNanos((long) (unit * SECOND)));
		}

		/** How much of what it could have served until its last call it has served. */
		double usedPercent() {
			return 100 * this.served / this.could;
		}

	}

	static final class Call {

		final RateLimiter limiter;

		final double born;

		final Permit permit;

		final long tokens;

		double left = Double.POSITIVE_INFINITY;

		double served = Double.POSITIVE_INFINITY;

		double done = Double.POSITIVE_INFINITY;

		Call(RateLimiter limiter, double born, Priority priority, long estimate, long tokens) {
			this.limiter = limiter;
			this.born = born;
			this.tokens = tokens;
			this.permit = new Permit(limiter, priority, estimate, false, (long) (born * SECOND));
		}

	}

}
