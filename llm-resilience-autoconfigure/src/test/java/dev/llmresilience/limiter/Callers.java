package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;

/**
 * Callers of one limiter in virtual time, who note when they leave. Whoever leaves sends
 * its request at that moment, and waits up to a day for its turn.
 */
final class Callers {

	static final Object OWNER = "owner";

	static final LimiterSettings FIXED = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
		.withNetworkMargin(Duration.ZERO);

	static final LimiterSettings ADAPTIVE = LimiterSettings.DEFAULTS.withNetworkMargin(Duration.ZERO);

	private static final double SECOND = 1e9;

	final VirtualTime time;

	final RateLimiter limiter;

	/** The names of those who have left, in that order. */
	final List<String> left = new ArrayList<>();

	Callers(LimiterSettings settings) {
		this(settings, new VirtualTime(1));
	}

	Callers(LimiterSettings settings, VirtualTime time) {
		this.time = time;
		this.limiter = new RateLimiter(settings, time);
	}

	Caller call(String name) {
		return call(name, Priority.NORMAL, 0);
	}

	Caller call(String name, Priority priority) {
		return call(name, priority, 0);
	}

	Caller call(String name, long tokens) {
		return call(name, Priority.NORMAL, tokens);
	}

	Caller call(String name, Priority priority, long tokens) {
		return new Caller(name, new Permit(OWNER, priority, tokens, false, this.time.nanoTime())).join(false);
	}

	Caller callOf(Object owner, String name) {
		return new Caller(name, new Permit(owner, Priority.NORMAL, 0, false, this.time.nanoTime())).join(false);
	}

	/** A call whose caller holds a place in flight. */
	Caller nestedCall(String name) {
		return new Caller(name, new Permit(OWNER, Priority.NORMAL, 0, true, this.time.nanoTime())).join(false);
	}

	/** A retry of a call that began so long ago, in seconds. */
	Caller retry(String name, Priority priority, double age) {
		long born = this.time.nanoTime() - (long) (age * SECOND);
		return new Caller(name, new Permit(OWNER, priority, 0, false, born)).join(true);
	}

	List<Caller> calls(int count, Priority priority, long tokens) {
		List<Caller> callers = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			callers.add(call(priority + " " + i, priority, tokens));
		}
		return callers;
	}

	/** How many may leave at once, who then have left. */
	int leaveAtOnce(long tokens) {
		int count = 0;
		Caller caller = call("at once", tokens);
		while (caller.hasLeft()) {
			count++;
			caller = call("at once", tokens);
		}
		this.limiter.leave(caller.ticket());
		return count;
	}

	void pass(double seconds) {
		this.time.runFor(Duration.ofNanos(Math.round(seconds * SECOND)));
	}

	double now() {
		return this.time.nanoTime() / SECOND;
	}

	/** One call, from the line to its end. */
	final class Caller {

		final String name;

		final Permit permit;

		/** When it left, in seconds, or infinite. */
		double leftAt = Double.POSITIVE_INFINITY;

		private @Nullable Ticket ticket;

		Caller(String name, Permit permit) {
			this.name = name;
			this.permit = permit;
		}

		Caller join(boolean retry) {
			long now = Callers.this.time.nanoTime();
			if (Callers.this.limiter.tryAcquire(this.permit, now)) {
				leave();
				return this;
			}
			Ticket joined = Callers.this.limiter.enqueue(this.permit, now, now + Duration.ofDays(1).toNanos(), retry,
					this::told);
			this.ticket = joined;
			if (joined.state() == State.GRANTED) {
				leave();
			}
			return this;
		}

		private void told() {
			if (ticket().state() == State.GRANTED) {
				leave();
			}
		}

		private void leave() {
			this.leftAt = now();
			Callers.this.left.add(this.name);
			Callers.this.limiter.onSend(this.permit, Callers.this.time.nanoTime());
		}

		boolean hasLeft() {
			return this.leftAt != Double.POSITIVE_INFINITY;
		}

		Ticket ticket() {
			Ticket ticket = this.ticket;
			if (ticket == null) {
				throw new IllegalStateException(this.name + " did not wait");
			}
			return ticket;
		}

		void answer() {
			Callers.this.limiter.onSuccess(this.permit, null);
		}

		void answer(long input, long output) {
			Callers.this.limiter.onSuccess(this.permit, new TokenUsage(input, output));
		}

		/** The provider rejects it. Returns the seconds that it should stay away. */
		double reject(double hintSeconds, RateLimitSnapshot... limits) {
			long hint = (hintSeconds >= 0) ? (long) (hintSeconds * SECOND) : -1;
			return Callers.this.limiter.onRejected(this.permit, hint, List.of(limits)) / SECOND;
		}

	}

}
