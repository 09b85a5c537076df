package dev.llmresilience.sample.provider;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Counts requests and their answers since the last reset.
 */
public final class Traffic {

	private final ReentrantLock lock = new ReentrantLock();

	private final LongSupplier nanoTime;

	private long arrived;

	private long answered;

	private long rejected;

	private @Nullable Long firstArrival;

	private @Nullable Long lastArrival;

	private @Nullable Long lastAnswer;

	/**
	 * Creates counts of zero.
	 * @param nanoTime the clock, such as {@link System#nanoTime()}
	 */
	public Traffic(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	/**
	 * Counts a request.
	 */
	public void arrival() {
		long now = this.nanoTime.getAsLong();
		this.lock.lock();
		try {
			this.arrived++;
			this.lastArrival = now;
			if (this.firstArrival == null) {
				this.firstArrival = now;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Counts an answer.
	 * @param status its HTTP status
	 */
	public void answer(int status) {
		long now = this.nanoTime.getAsLong();
		this.lock.lock();
		try {
			if (status == 200) {
				this.answered++;
				this.lastAnswer = now;
			}
			else if (status == 429) {
				this.rejected++;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * The counts.
	 * @return the counts at this moment
	 */
	public Counts counts() {
		this.lock.lock();
		try {
			return new Counts(this.arrived, this.answered, this.rejected, this.firstArrival, this.lastArrival,
					this.lastAnswer);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Starts counting from zero. The time of the last arrival stays: it tells how full
	 * the buckets are.
	 */
	public void reset() {
		this.lock.lock();
		try {
			this.arrived = 0;
			this.answered = 0;
			this.rejected = 0;
			this.firstArrival = null;
			this.lastAnswer = null;
		}
		finally {
			this.lock.unlock();
		}
	}

}
