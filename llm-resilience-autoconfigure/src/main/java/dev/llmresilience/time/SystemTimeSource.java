package dev.llmresilience.time;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Instant;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Real time. Timers run on one daemon thread, which starts with the first timer and ends
 * when this source is closed. Tasks run on virtual threads where there are such, and else
 * on daemon threads of their own, which are kept for a minute. Thread-safe.
 */
public final class SystemTimeSource implements TimeSource, AutoCloseable {

	private static final Log logger = LogFactory.getLog(SystemTimeSource.class);

	private final ScheduledThreadPoolExecutor timers;

	private final ExecutorService tasks = tasks();

	/**
	 * Creates a source with a timer thread of its own.
	 */
	public SystemTimeSource() {
		this.timers = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "llm-resilience-timer");
			thread.setDaemon(true);
			return thread;
		}, (task, executor) -> {
			// Closed: whoever waits has been told by the shutdown itself.
		});
		this.timers.setRemoveOnCancelPolicy(true);
		this.timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	@Override
	public long nanoTime() {
		return System.nanoTime();
	}

	@Override
	public Instant now() {
		return Instant.now();
	}

	@Override
	public double random() {
		return ThreadLocalRandom.current().nextDouble();
	}

	@Override
	public Timer schedule(long delayNanos, Runnable task) {
		ScheduledFuture<?> future = this.timers.schedule(() -> run(task), delayNanos, TimeUnit.NANOSECONDS);
		return () -> future.cancel(false);
	}

	@Override
	public void execute(Runnable task) {
		try {
			this.tasks.execute(() -> run(task));
		}
		catch (RejectedExecutionException ex) {
			run(task);
		}
	}

	private static ExecutorService tasks() {
		try {
			MethodHandle virtual = MethodHandles.publicLookup()
				.findStatic(Executors.class, "newVirtualThreadPerTaskExecutor",
						MethodType.methodType(ExecutorService.class));
			return (ExecutorService) virtual.invokeExact();
		}
		catch (NoSuchMethodException ex) {
			AtomicInteger number = new AtomicInteger();
			return Executors.newCachedThreadPool((task) -> {
				Thread thread = new Thread(task, "llm-resilience-" + number.incrementAndGet());
				thread.setDaemon(true);
				return thread;
			});
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void run(Runnable task) {
		try {
			task.run();
		}
		catch (RuntimeException ex) {
			logger.error("A task failed", ex);
		}
	}

	@Override
	public Waiter waiter() {
		return new ParkingWaiter(Thread.currentThread());
	}

	/**
	 * Ends the timer thread and interrupts tasks. Timers that have not run yet never
	 * will.
	 */
	@Override
	public void close() {
		this.tasks.shutdownNow();
		this.timers.shutdownNow();
	}

	private static final class ParkingWaiter implements Waiter {

		private final Thread thread;

		private volatile boolean signalled;

		ParkingWaiter(Thread thread) {
			this.thread = thread;
		}

		@Override
		public boolean await(long nanos) throws InterruptedException {
			long end = System.nanoTime() + nanos;
			while (true) {
				if (Thread.interrupted()) {
					throw new InterruptedException();
				}
				if (this.signalled) {
					return true;
				}
				long left = end - System.nanoTime();
				if (left <= 0) {
					return false;
				}
				LockSupport.parkNanos(this, left);
			}
		}

		@Override
		public void await() throws InterruptedException {
			while (true) {
				if (Thread.interrupted()) {
					throw new InterruptedException();
				}
				if (this.signalled) {
					return;
				}
				LockSupport.park(this);
			}
		}

		@Override
		public void signal() {
			this.signalled = true;
			LockSupport.unpark(this.thread);
		}

	}

}
