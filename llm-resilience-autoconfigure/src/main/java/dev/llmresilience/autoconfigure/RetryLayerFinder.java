package dev.llmresilience.autoconfigure;

import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.autoconfigure.RetryLayer.Kind;
import dev.llmresilience.failure.ProviderType;
import org.jspecify.annotations.Nullable;

/**
 * Looks for what one library does below protected calls, once all singletons are there:
 * its retries, and whether an interrupt reaches it. Looks at those that have been made,
 * and makes none.
 */
@FunctionalInterface
interface RetryLayerFinder {

	/**
	 * Looks for layers.
	 * @return those that may send a request more than once, or do not heed an interrupt
	 */
	Collection<Finding> find();

	/**
	 * A layer, and whose calls go through it. Immutable.
	 *
	 * @param kind what sort of layer it is
	 * @param name the property, bean or method that it was found at
	 * @param what what retries, for the message
	 * @param tries the most requests that it makes of one
	 * @param types the types of the providers that it may talk to, those that it is made
	 * for first
	 * @param method the method that has it, or {@code null} if any may
	 * @param remedy what to do about it, for the message
	 * @param taken whether {@code llm.resilience.layers=take-over} does it
	 * @param deaf whether a platform thread that waits for its answer does not heed an
	 * interrupt
	 */
	record Finding(Kind kind, String name, String what, int tries, List<Set<ProviderType>> types,
			@Nullable ProtectedMethod method, String remedy, boolean taken, boolean deaf) {

		/** Of clients that nobody knows the provider of. */
		static final List<Set<ProviderType>> ANY = List.of(EnumSet.allOf(ProviderType.class));

		/** Of Anthropic's SDK, which two clouds are reached with too. */
		static final List<Set<ProviderType>> ANTHROPIC = List.of(EnumSet.of(ProviderType.ANTHROPIC),
				EnumSet.of(ProviderType.BEDROCK, ProviderType.GOOGLE, ProviderType.GENERIC));

		/** Of OpenAI's SDK, whose API most others imitate. */
		static final List<Set<ProviderType>> OPENAI = List.of(
				EnumSet.of(ProviderType.OPENAI, ProviderType.AZURE_OPENAI),
				EnumSet.complementOf(EnumSet.of(ProviderType.ANTHROPIC, ProviderType.BEDROCK)));

		/**
		 * Of an SDK's client that is a bean, or within one. The SDKs send their requests
		 * with OkHttp.
		 */
		static Finding ofSdk(String bean, String sdk, int retries, List<Set<ProviderType>> types, String remedy,
				boolean taken) {
			return new Finding(Kind.SDK, bean, bean(bean, sdk), retries + 1, types, null, remedy, taken, true);
		}

		/** Of an HTTP client that is a bean, or below one. */
		static Finding ofHttpClient(String bean, String client, int tries, String remedy, boolean deaf) {
			return new Finding(Kind.HTTP_CLIENT, bean, bean(bean, client), tries, ANY, null, remedy, false, deaf);
		}

		private static String bean(String bean, String client) {
			return "the bean '" + bean + "' (" + client + ")";
		}

		/** Of a client that nobody waits for on a thread. */
		Finding withoutThread() {
			return new Finding(this.kind, this.name, this.what, this.tries, this.types, this.method, this.remedy,
					this.taken, false);
		}

	}

}
