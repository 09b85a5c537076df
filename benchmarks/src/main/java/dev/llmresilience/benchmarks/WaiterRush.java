package dev.llmresilience.benchmarks;

import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.management.OperatingSystemMXBean;
import dev.llmresilience.Priority;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource.Waiter;
import io.github.bucket4j.BlockingBucket;
import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter;

/**
 * A crowd of virtual threads that wait for a limiter, and then leave at its rate: in
 * which order, how punctually, and at what cost in memory and processor time. Ours beside
 * Bucket4j, Resilience4j and Guava, each in a JVM of its own. Needs Java 21 or later.
 * <p>
 * The limiter is first made to let nobody out for a while, in which all queue up. The
 * next thread is only started once the one before is seen waiting, so that the order in
 * which they queue is known for certain. A thread has left when it returns from its
 * limiter and has taken the next number. With ours it is also known in which order the
 * threads were told, which the scheduler of the virtual threads cannot blur.
 * <p>
 * Reported are the threads that left before their predecessor in the queue, the pairs of
 * threads that left the wrong way round, and the most places by which one moved; when the
 * last left, counted from when the first could, beside when it should have; the heap for
 * each while all wait, with its thread, after a garbage collection; and the processor
 * time of the whole process from when all wait until the last has left. Smaller crowds go
 * first, so that the code is compiled.
 */
public final class WaiterRush {

	private static final int PER_SECOND = 10_000;

	/** How many are given a second to queue up. */
	private static final int QUEUED_PER_SECOND = 10_000;

	private static final int WARM_UPS = 4;

	private static final List<String> CROWDS = List.of("ours", "bucket4j", "resilience4j", "guava");

	private WaiterRush() {
	}

	/**
	 * Measures.
	 * @param args nothing, for all limiters with 100,000 threads; or the name of one, for
	 * a run within this JVM, and how many threads
	 * @throws Exception if a run fails
	 */
	public static void main(String[] args) throws Exception {
		int waiters = (args.length > 1) ? Integer.parseInt(args[1]) : 100_000;
		if (args.length > 0) {
			// A server's code is compiled, and knows that waits come to an end: the first
			// crowd all queues up before anybody has ever been let out.
			for (int i = 0; i < WARM_UPS; i++) {
				measure(args[0], waiters / 5, new PrintStream(OutputStream.nullOutputStream()));
			}
			measure(args[0], waiters, System.out);
			return;
		}
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		for (String name : CROWDS) {
			Process process = new ProcessBuilder(java, "-Xmx2g", "-cp", System.getProperty("java.class.path"),
					WaiterRush.class.getName(), name, String.valueOf(waiters))
				.inheritIO()
				.start();
			if (process.waitFor() != 0) {
				throw new IllegalStateException("The run of " + name + " failed");
			}
		}
	}

	private static void measure(String name, int waiters, PrintStream report) throws Exception {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		try (SystemTimeSource time = new SystemTimeSource()) {
			Departures told = new Departures(waiters);
			Departures left = new Departures(waiters);
			Crowd crowd = crowd(name, time, told);
			Thread[] threads = new Thread[waiters];
			CountDownLatch gone = new CountDownLatch(waiters);
			long before = usedHeap();
			long from = crowd.hold(Math.max(2, waiters / QUEUED_PER_SECOND));
			for (int i = 0; i < waiters; i++) {
				int number = i;
				threads[i] = startVirtualThread(() -> {
					try {
						crowd.pass(number);
						left.add(number);
					}
					catch (Exception ex) {
						throw new IllegalStateException(ex);
					}
					finally {
						gone.countDown();
					}
				});
				awaitWaiting(threads[i]);
			}
			long heap = usedHeap() - before;
			if (System.nanoTime() - from >= 0) {
				throw new IllegalStateException("The first left before the last had queued up");
			}
			long busy = system.getProcessCpuTime();
			gone.await();
			busy = system.getProcessCpuTime() - busy;
			double took = (left.last - from) / 1e9;
			double ideal = (waiters - 1.0) / PER_SECOND;
			report.printf(
					"%-12s %d waiters: %s; last left after %.4f s, ideal %.4f s, %+.3f %%; "
							+ "%.0f bytes of heap each; %.2f s of processor time%n",
					name, waiters, left, took, ideal, 100 * (took / ideal - 1), (double) heap / waiters, busy / 1e9);
			if (told.isComplete()) {
				report.printf("%-12s in the order in which they were told: %s%n", "", told);
			}
		}
	}

	private static Thread startVirtualThread(Runnable task) throws ReflectiveOperationException {
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		return (Thread) start.invoke(null, task);
	}

	private static void awaitWaiting(Thread thread) {
		Thread.State state = thread.getState();
		while (state != Thread.State.WAITING && state != Thread.State.TIMED_WAITING) {
			if (state == Thread.State.TERMINATED) {
				throw new IllegalStateException("One did not wait");
			}
			Thread.onSpinWait();
			state = thread.getState();
		}
	}

	private static long usedHeap() {
		Runtime runtime = Runtime.getRuntime();
		long least = Long.MAX_VALUE;
		for (int i = 0; i < 3; i++) {
			System.gc();
			least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
		}
		return least;
	}

	private static Crowd crowd(String name, SystemTimeSource time, Departures told) {
		return switch (name) {
			case "ours" -> new Ours(time, told);
			case "bucket4j" -> new Bucket4j();
			case "resilience4j" -> new Resilience4j();
			case "guava" -> new Guava();
			default -> throw new IllegalArgumentException("No limiter " + name + ", only " + CROWDS);
		};
	}

	/** Those who wait at one limiter. */
	private interface Crowd {

		/**
		 * Lets nobody out for a while.
		 * @param seconds how long
		 * @return when the first may leave, on the monotonic clock
		 */
		long hold(int seconds);

		/**
		 * Waits and leaves.
		 * @param number of the caller
		 * @throws InterruptedException never
		 */
		void pass(int number) throws InterruptedException;

	}

	/** Waits the way that the driver of blocking calls does. */
	private static final class Ours implements Crowd {

		private final SystemTimeSource time;

		private final Departures told;

		private final RateLimiter limiter;

		Ours(SystemTimeSource time, Departures told) {
			this.time = time;
			this.told = told;
			this.limiter = new RateLimiter(
					LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0 * PER_SECOND, PER_SECOND), time);
		}

		@Override
		public long hold(int seconds) {
			long now = this.time.nanoTime();
			Permit permit = new Permit(this, Priority.NORMAL, 0, false, now);
			if (!this.limiter.tryAcquire(permit, now)) {
				throw new IllegalStateException("A new limiter is not full");
			}
			this.limiter.onSend(permit, now);
			long wait = this.limiter.onRejected(permit, Duration.ofSeconds(seconds).toNanos(), List.of());
			this.limiter.back(permit);
			return now + wait;
		}

		@Override
		public void pass(int number) throws InterruptedException {
			long now = this.time.nanoTime();
			Permit permit = new Permit(this, Priority.NORMAL, 0, false, now);
			if (this.limiter.tryAcquire(permit, now)) {
				return;
			}
			Waiter waiter = this.time.waiter();
			long deadline = now + Duration.ofMinutes(10).toNanos();
			Ticket ticket = this.limiter.enqueue(permit, now, deadline, false, () -> {
				this.told.add(number);
				waiter.signal();
			});
			waiter.await();
			if (ticket.state() != Ticket.State.GRANTED) {
				throw new IllegalStateException("Not granted, but " + ticket.state());
			}
		}

	}

	private static final class Bucket4j implements Crowd {

		private final Bucket bucket = Bucket.builder()
			.addLimit((limit) -> limit.capacity(PER_SECOND)
				.refillGreedy(PER_SECOND, Duration.ofSeconds(1))
				.initialTokens(0))
			.withNanosecondPrecision()
			.build();

		private final BlockingBucket blocking = this.bucket.asBlocking();

		@Override
		public long hold(int seconds) {
			this.bucket.tryConsumeAsMuchAsPossible();
			long now = System.nanoTime();
			this.bucket.consumeIgnoringRateLimits(seconds * PER_SECOND - 1);
			return now + Duration.ofSeconds(seconds).toNanos();
		}

		@Override
		public void pass(int number) throws InterruptedException {
			this.blocking.consume(1);
		}

	}

	/** It counts in cycles, here of one call each. */
	private static final class Resilience4j implements Crowd {

		private final AtomicRateLimiter limiter = new AtomicRateLimiter("peer",
				RateLimiterConfig.custom()
					.limitForPeriod(1)
					.limitRefreshPeriod(Duration.ofSeconds(1).dividedBy(PER_SECOND))
					.timeoutDuration(Duration.ofMinutes(10))
					.build());

		@Override
		public long hold(int seconds) {
			long now = System.nanoTime();
			return now + this.limiter.reservePermission(seconds * PER_SECOND)
					+ Duration.ofSeconds(1).toNanos() / PER_SECOND;
		}

		@Override
		public void pass(int number) {
			if (!this.limiter.acquirePermission(1)) {
				throw new IllegalStateException("Refused");
			}
		}

	}

	@SuppressWarnings("UnstableApiUsage")
	private static final class Guava implements Crowd {

		private final com.google.common.util.concurrent.RateLimiter limiter = com.google.common.util.concurrent.RateLimiter
			.create(PER_SECOND);

		@Override
		public long hold(int seconds) {
			// What it has stored by now goes first.
			this.limiter.acquire(PER_SECOND);
			this.limiter.acquire(seconds * PER_SECOND);
			return System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
		}

		@Override
		public void pass(int number) {
			this.limiter.acquire();
		}

	}

	/** The order in which they left. Thread-safe. */
	private static final class Departures {

		private final int[] order;

		private final AtomicInteger next = new AtomicInteger();

		private volatile long last;

		Departures(int waiters) {
			this.order = new int[waiters];
		}

		void add(int number) {
			int place = this.next.getAndIncrement();
			this.order[place] = number;
			if (place == this.order.length - 1) {
				this.last = System.nanoTime();
			}
		}

		boolean isComplete() {
			return this.next.get() == this.order.length;
		}

		@Override
		public String toString() {
			int[] places = new int[this.order.length];
			int moved = 0;
			for (int i = 0; i < this.order.length; i++) {
				places[this.order[i]] = i;
				moved = Math.max(moved, Math.abs(this.order[i] - i));
			}
			int neighbours = 0;
			for (int i = 1; i < places.length; i++) {
				neighbours += (places[i] < places[i - 1]) ? 1 : 0;
			}
			double pairs = places.length * (places.length - 1.0) / 2;
			long inversions = sort(places);
			return String.format("%d left before their predecessor, %d of all pairs (%.6f %%) the wrong way round, "
					+ "moved up to %d places", neighbours, inversions, 100 * inversions / pairs, moved);
		}

		/** Sorts by merging, and counts the pairs that stood the wrong way round. */
		private static long sort(int[] values) {
			if (values.length < 2) {
				return 0;
			}
			int[] low = Arrays.copyOf(values, values.length / 2);
			int[] high = Arrays.copyOfRange(values, values.length / 2, values.length);
			long inversions = sort(low) + sort(high);
			int l = 0;
			int h = 0;
			for (int i = 0; i < values.length; i++) {
				if (h == high.length || (l < low.length && low[l] < high[h])) {
					values[i] = low[l++];
				}
				else {
					values[i] = high[h++];
					inversions += low.length - l;
				}
			}
			return inversions;
		}

	}

}
