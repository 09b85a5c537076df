package dev.llmresilience.engine;

import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * The shared calls that what a thread does is part of, the innermost first. An equal call
 * within one of them must not wait for it: it would wait for itself. Immutable.
 */
final class Leading {

	private static final ThreadLocal<@Nullable Leading> current = new ThreadLocal<>();

	private final InFlight.Key key;

	private final @Nullable Leading around;

	private Leading(InFlight.Key key, @Nullable Leading around) {
		this.key = key;
		this.around = around;
	}

	static boolean includes(InFlight.Key key) {
		for (Leading leading = current.get(); leading != null; leading = leading.around) {
			if (leading.key.equals(key)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The calling thread makes a call for all who share it.
	 * @param key the call
	 * @return what it was part of, to {@linkplain #restore go back} to
	 */
	static @Nullable Leading begin(InFlight.Key key) {
		Leading before = current.get();
		current.set(new Leading(key, before));
		return before;
	}

	static void restore(@Nullable Leading before) {
		if (before != null) {
			current.set(before);
		}
		else {
			current.remove();
		}
	}

	/** Carries it with the rest of a context to the threads on which a call goes on. */
	static ContextCarrier with(ContextCarrier others) {
		return () -> {
			UnaryOperator<Runnable> context = others.capture();
			Leading leading = current.get();
			return (leading != null) ? (task) -> leading.wrap(context.apply(task)) : context;
		};
	}

	private Runnable wrap(Runnable task) {
		return () -> {
			Leading before = current.get();
			current.set(this);
			try {
				task.run();
			}
			finally {
				restore(before);
			}
		};
	}

}
