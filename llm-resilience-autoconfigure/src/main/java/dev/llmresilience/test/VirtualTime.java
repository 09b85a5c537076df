package dev.llmresilience.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;

import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * A simulated clock with timers and threads: hours pass in milliseconds, and the same
 * seed gives the same run, event for event.
 * <p>
 * Callers that block run on real threads that hand over one at a time: while one runs,
 * all others stand still, and the clock moves only when every one of them waits. So code
 * under test needs no change and no sleep, and there are no races to lose:
 *
 * <pre class="code">
 * VirtualTime time = new VirtualTime(42);
 * for (int i = 0; i &lt; 100; i++) {
 *     time.start(() -&gt; service.call());
 * }
 * time.run();
 * assertThat(time.elapsed()).isLessThan(Duration.ofSeconds(9));
 * </pre>
 *
 * The simulation itself is driven from one thread: the one that created it. Started
 * threads may use every method but {@link #run()}, {@link #runFor(Duration)} and
 * {@link #close()}.
 */
public final class VirtualTime implements TimeSource, AutoCloseable {

	/**
	 * The instant at which every simulation starts unless told otherwise.
	 */
	public static final Instant DEFAULT_START = Instant.parse("2026-10-01T00:00:00Z");

	private static final ThreadLocal<@Nullable Worker> current = new ThreadLocal<>();

	private final PriorityQueue<Event> events = new PriorityQueue<>();

	private final SplittableRandom random;

	private final Instant start;

	private final Deque<Worker> idle = new ArrayDeque<>();

	private final List<Worker> workers = new ArrayList<>();

	private final Semaphore handBack = new Semaphore(0);

	private long nanos;

	private long sequence;

	private @Nullable Throwable failure;

	/**
	 * Creates a simulation that starts at {@link #DEFAULT_START}.
	 * @param seed the seed of all random numbers
	 */
	public VirtualTime(long seed) {
		this(seed, DEFAULT_START);
	}

	/**
	 * Creates a simulation.
	 * @param seed the seed of all random numbers
	 * @param start what the wall clock shows at first
	 */
	public VirtualTime(long seed, Instant start) {
		this.random = new SplittableRandom(seed);
		this.start = start;
	}

	@Override
	public long nanoTime() {
		return this.nanos;
	}

	@Override
	public Instant now() {
		return this.start.plusNanos(this.nanos);
	}

	@Override
	public double random() {
		return this.random.nextDouble();
	}

	/**
	 * The simulated time that has passed since the start.
	 * @return the elapsed time
	 */
	public Duration elapsed() {
		return Duration.ofNanos(this.nanos);
	}

	@Override
	public Timer schedule(long delayNanos, Runnable task) {
		Event event = new Event(this.nanos + Math.max(0, delayNanos), this.sequence++, task);
		this.events.add(event);
		return () -> this.events.remove(event);
	}

	/**
	 * Runs a task at the present simulated time, without a thread of its own: it must not
	 * block.
	 */
	@Override
	public void execute(Runnable task) {
		schedule(0, task);
	}

	/**
	 * Starts a simulated caller at the present simulated time. It runs once the
	 * simulation does.
	 * @param task what the caller does; it may block on this time source, and an
	 * exception that escapes it ends the simulation
	 * @return the thread it will run on, for interrupting it
	 */
	public Thread start(Runnable task) {
		return startAfter(Duration.ZERO, task);
	}

	/**
	 * Starts a simulated caller some simulated time from now.
	 * @param delay how long from now
	 * @param task what the caller does
	 * @return the thread it will run on, for interrupting it
	 */
	public Thread startAfter(Duration delay, Runnable task) {
		Worker worker = this.idle.poll();
		if (worker == null) {
			worker = new Worker();
			this.workers.add(worker);
		}
		Worker chosen = worker;
		chosen.task = task;
		schedule(delay.toNanos(), () -> resume(chosen));
		return chosen.thread;
	}

	/**
	 * Interrupts a simulated caller, which then runs at the present simulated time.
	 * @param thread a thread that {@link #start(Runnable)} returned
	 */
	@Override
	public void interrupt(Thread thread) {
		thread.interrupt();
		for (Worker worker : this.workers) {
			VirtualWaiter waiter = worker.waiting;
			if (worker.thread == thread && waiter != null) {
				waiter.wake();
			}
		}
	}

	/**
	 * Lets the calling simulated thread wait for some simulated time.
	 * @param duration how long
	 * @throws IllegalStateException if the thread is interrupted while it waits
	 */
	public void sleep(Duration duration) {
		try {
			waiter().await(duration.toNanos());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted in simulated time", ex);
		}
	}

	/**
	 * Runs until every started caller has ended. Timers that are due later stay.
	 * @throws AssertionError if a simulated caller let an exception escape
	 */
	public void run() {
		while (active() > 0 && step(Long.MAX_VALUE)) {
			// The step is all there is to do.
		}
	}

	/**
	 * Runs everything that happens within the given simulated time, which has passed
	 * afterwards.
	 * @param duration how long
	 * @throws AssertionError if a simulated caller let an exception escape
	 */
	public void runFor(Duration duration) {
		long end = this.nanos + duration.toNanos();
		while (step(end)) {
			// The step is all there is to do.
		}
		this.nanos = end;
	}

	/** Lets the next thing happen, if it is due by then. */
	private boolean step(long end) {
		Event next = this.events.peek();
		if (next == null || next.at > end) {
			return false;
		}
		this.events.remove();
		this.nanos = Math.max(this.nanos, next.at);
		next.task.run();
		Throwable failed = this.failure;
		if (failed != null) {
			this.failure = null;
			throw new AssertionError("A simulated caller failed", failed);
		}
		return true;
	}

	/**
	 * How many simulated callers have been started and have not ended.
	 * @return the number
	 */
	public int active() {
		return this.workers.size() - this.idle.size();
	}

	@Override
	public Waiter waiter() {
		return new VirtualWaiter();
	}

	/**
	 * Ends the threads of all simulated callers, wherever they are.
	 */
	@Override
	public void close() {
		for (Worker worker : this.workers) {
			worker.ending = true;
			worker.thread.interrupt();
			worker.turn.release();
		}
	}

	private @Nullable Worker currentWorker() {
		Worker worker = current.get();
		return (worker != null && worker.owner() == this) ? worker : null;
	}

	/** Hands the turn to a worker and waits until it waits or is done. */
	private void resume(Worker worker) {
		worker.turn.release();
		this.handBack.acquireUninterruptibly();
	}

	private record Event(long at, long order, Runnable task) implements Comparable<Event> {

		@Override
		public int compareTo(Event other) {
			int byTime = Long.compare(this.at, other.at);
			return (byTime != 0) ? byTime : Long.compare(this.order, other.order);
		}

	}

	private final class Worker {

		final Semaphore turn = new Semaphore(0);

		final Thread thread;

		volatile boolean ending;

		@Nullable Runnable task;

		@Nullable VirtualWaiter waiting;

		Worker() {
			this.thread = new Thread(this::loop, "virtual-time-" + VirtualTime.this.workers.size());
			this.thread.setDaemon(true);
			this.thread.start();
		}

		VirtualTime owner() {
			return VirtualTime.this;
		}

		private void loop() {
			current.set(this);
			while (true) {
				this.turn.acquireUninterruptibly();
				Runnable next = this.task;
				if (this.ending || next == null) {
					return;
				}
				try {
					next.run();
				}
				catch (Throwable ex) {
					if (this.ending) {
						return;
					}
					VirtualTime.this.failure = ex;
				}
				this.task = null;
				Thread.interrupted();
				if (this.ending) {
					return;
				}
				VirtualTime.this.idle.add(this);
				VirtualTime.this.handBack.release();
			}
		}

	}

	private final class VirtualWaiter implements Waiter {

		private final @Nullable Worker worker = currentWorker();

		private boolean signalled;

		private boolean woken;

		@Override
		public boolean await(long duration) throws InterruptedException {
			Worker self = caller();
			if (!this.signalled && duration > 0) {
				Timer timer = schedule(duration, this::wake);
				try {
					block(self);
				}
				finally {
					timer.cancel();
				}
			}
			return this.signalled;
		}

		@Override
		public void await() throws InterruptedException {
			Worker self = caller();
			if (!this.signalled) {
				block(self);
			}
		}

		private Worker caller() throws InterruptedException {
			Worker self = this.worker;
			if (self == null || self.thread != Thread.currentThread()) {
				throw new IllegalStateException("Only a simulated caller can wait in virtual time: use start(..)");
			}
			if (Thread.interrupted() || self.ending) {
				throw new InterruptedException();
			}
			return self;
		}

		private void block(Worker self) throws InterruptedException {
			this.woken = false;
			self.waiting = this;
			VirtualTime.this.handBack.release();
			self.turn.acquireUninterruptibly();
			self.waiting = null;
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
		}

		@Override
		public void signal() {
			this.signalled = true;
			wake();
		}

		private void wake() {
			Worker self = this.worker;
			if (self != null && self.waiting == this && !this.woken) {
				this.woken = true;
				schedule(0, () -> resume(self));
			}
		}

	}

}
