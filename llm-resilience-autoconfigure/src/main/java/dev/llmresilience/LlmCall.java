package dev.llmresilience;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The call that is being made: what the code within a protected method can learn about
 * the attempt that it is part of. Belongs to one call; safe to use from any thread.
 */
public abstract class LlmCall {

	/**
	 * The key under which a reactive call is found in the Reactor context.
	 */
	public static final String CONTEXT_KEY = "dev.llmresilience.call";

	private static final ThreadLocal<Place> places = ThreadLocal.withInitial(Place::new);

	/** Only the engine makes calls. */
	protected LlmCall() {
	}

	/**
	 * The innermost protected call that the calling thread is in.
	 * @return the call, or {@code null} outside of one
	 */
	public static @Nullable LlmCall current() {
		return places.get().call;
	}

	/**
	 * Where the calling thread keeps its current call.
	 * @return the place, always the same for one thread
	 */
	protected static Place place() {
		return places.get();
	}

	/**
	 * The provider entry whose guards this attempt is under.
	 * @return the name
	 */
	public abstract String provider();

	/**
	 * Which attempt this is.
	 * @return the number, {@code 1} for the first
	 */
	public abstract int attempt();

	/**
	 * The time that is left for the whole call.
	 * @return the time, never negative
	 */
	public abstract Duration timeLeft();

	/**
	 * A key by which the provider, or a proxy before it, can recognise a request that it
	 * has had before: the same for the same request of every attempt, and another one for
	 * each request within an attempt. Each invocation counts as another request, so it is
	 * asked for once for each that is sent.
	 * @return the key: letters, digits and hyphens
	 */
	public abstract String idempotencyKey();

	/**
	 * Tells how many tokens a request of this attempt has used, where the method's result
	 * does not say, such as a plain string. Several add up. It only matters where tokens
	 * are limited.
	 * @param usage the usage
	 */
	public abstract void usedTokens(TokenUsage usage);

	/**
	 * Declares that something has been done that must not be done twice, such as charging
	 * a card. From then on this call is neither retried nor failed over, whatever fails,
	 * and neither are those that it is nested in.
	 */
	public abstract void sideEffect();

	/**
	 * Where one thread keeps its current call, so that entering and leaving a call looks
	 * it up only once. Used by that thread only.
	 */
	protected static final class Place {

		private @Nullable LlmCall call;

		private @Nullable Long deadline;

		private Place() {
		}

		/**
		 * Makes a call the current one.
		 * @param call the call, or {@code null} for none
		 */
		public void enter(@Nullable LlmCall call) {
			this.call = call;
		}

		/**
		 * The current call.
		 * @return the call, or {@code null} for none
		 */
		public @Nullable LlmCall current() {
			return this.call;
		}

		/**
		 * Bounds the calls that the thread begins from now on.
		 * @param deadline the latest moment on the engine's monotonic clock, in
		 * nanoseconds, or {@code null} for none
		 */
		public void bound(@Nullable Long deadline) {
			this.deadline = deadline;
		}

		/**
		 * What bounds the calls that the thread begins.
		 * @return the latest moment on the engine's monotonic clock, in nanoseconds, or
		 * {@code null} for none
		 */
		public @Nullable Long deadline() {
			return this.deadline;
		}

	}

}
