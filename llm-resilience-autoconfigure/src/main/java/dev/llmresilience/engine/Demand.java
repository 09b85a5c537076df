package dev.llmresilience.engine;

import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;

/**
 * What a subscriber has asked for and not got yet, across the attempts that serve it one
 * after the other. Thread-safe.
 * <p>
 * Invariant: what the present attempt has been asked for and has not delivered is never
 * more than what the subscriber has asked for and not got, less the one that is reserved.
 */
final class Demand {

	private static final long ENDLESS = Long.MAX_VALUE;

	private final ReentrantLock lock = new ReentrantLock();

	/** What the subscriber has asked for and not got. */
	private long open;

	/** The part of it that the present attempt was asked for. */
	private long asked;

	/** Whether the next one is not the attempt's. */
	private boolean reserved;

	private @Nullable Subscription upstream;

	/**
	 * The subscriber asks for more.
	 * @param more how much, above zero
	 * @return whether it waited for nothing before
	 */
	boolean add(long more) {
		this.lock.lock();
		try {
			boolean none = this.open == 0;
			long sum = this.open + more;
			this.open = (sum < 0) ? ENDLESS : sum;
			return none;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether the subscriber waits for something. */
	boolean isOpen() {
		this.lock.lock();
		try {
			return this.open > 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Another attempt is about to serve.
	 * @param reserve whether the next one that the subscriber gets is not the attempt's
	 */
	void begin(boolean reserve) {
		this.lock.lock();
		try {
			this.upstream = null;
			this.asked = 0;
			this.reserved = reserve;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The attempt can be asked from now on. */
	void servedBy(Subscription upstream) {
		this.lock.lock();
		try {
			this.upstream = upstream;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The present attempt has delivered one. */
	void delivered() {
		this.lock.lock();
		try {
			this.asked = less(this.asked);
			this.open = less(this.open);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether the subscriber waits for the one that is reserved. */
	boolean owesReserved() {
		this.lock.lock();
		try {
			return this.reserved && this.open > 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isReserved() {
		this.lock.lock();
		try {
			return this.reserved;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes the one that is reserved.
	 * @return whether there was one, and the subscriber waits for it
	 */
	boolean takeReserved() {
		this.lock.lock();
		try {
			if (!this.reserved || this.open == 0) {
				return false;
			}
			this.reserved = false;
			this.open = less(this.open);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private static long less(long number) {
		return (number == ENDLESS || number == 0) ? number : number - 1;
	}

	/** Asks the present attempt for what nobody was asked for. */
	void pass() {
		Subscription upstream;
		long more;
		this.lock.lock();
		try {
			upstream = this.upstream;
			boolean endless = this.open == ENDLESS && this.asked != ENDLESS;
			more = endless ? ENDLESS : this.open - this.asked;
			if (upstream == null || this.reserved || more <= 0) {
				return;
			}
			this.asked = this.open;
		}
		finally {
			this.lock.unlock();
		}
		upstream.request(more);
	}

}
