package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.llmresilience.FailureKind;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.engine.CallSettings.OnOpen;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.policy.Jitter;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.Ordered;

/**
 * The properties under {@code llm.resilience}. Every entry of {@code providers} inherits
 * what it does not set from {@code providers.default}, and that from the built-in values.
 * Immutable.
 *
 * @param enabled whether protected methods are protected at all
 * @param mode whether calls are protected, or only judged and counted, to see what would
 * be done to them before that is done
 * @param strict whether an annotation that names an unknown provider stops the start;
 * otherwise such calls are made under the entry named default
 * @param layers what is done about other layers that retry the same calls: warn at the
 * start with the requests that one call can then become, take-over to switch off those of
 * Spring AI and the SDKs, or ignore
 * @param aspect where the advice stands among others
 * @param web answers to the application's own callers
 * @param maxKeys most values of an annotation's key that have guards of their own at a
 * time; idle ones make room
 * @param providers provider entries by name, a short kebab-case word; each is one API key
 * and model family with its own policy and guards
 */
@ConfigurationProperties("llm.resilience")
public record LlmResilienceProperties(@DefaultValue("true") boolean enabled, @DefaultValue("enforce") Mode mode,
		@DefaultValue("true") boolean strict, @DefaultValue("warn") Layers layers, @DefaultValue Aspect aspect,
		@DefaultValue Web web, @DefaultValue("1000") int maxKeys, @DefaultValue Map<String, ProviderEntry> providers) {

	/**
	 * Whether calls are protected.
	 */
	public enum Mode {

		/** They are. */
		ENFORCE,

		/** They are judged and counted, and nothing is done to them. */
		OBSERVE

	}

	/**
	 * What is done about other layers that retry the same calls.
	 */
	public enum Layers {

		/** One line at the start for each that is found. */
		WARN,

		/**
		 * Those of Spring AI and the SDKs are switched off, others are warned of.
		 */
		TAKE_OVER,

		/** Nobody looks for them. */
		IGNORE

	}

	/**
	 * Where the advice stands among others.
	 *
	 * @param order order of the advice, lower is further out; outside of transactions,
	 * caches and observations unless set
	 */
	public record Aspect(@DefaultValue("" + DEFAULT_ORDER) int order) {

		/**
		 * Outside of all that Spring puts at the lowest precedence, with room between.
		 */
		public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	}

	/**
	 * Answers to the application's own callers.
	 *
	 * @param problemDetails whether refusals that reach a controller become problem
	 * details (RFC 9457) with a Retry-After
	 */
	public record Web(@DefaultValue("false") boolean problemDetails) {
	}

	/**
	 * One provider entry. What is {@code null} is inherited. Annotated so that the
	 * configuration metadata, which cannot show what is below the keys of a map, has at
	 * least the properties of {@code default}; nothing binds it by this annotation.
	 *
	 * @param type API dialect of the provider, which selects the rules that judge its
	 * failures; taken from the name of the entry unless set
	 * @param account who pays; entries of one account share a money latch; the name of
	 * the entry unless set
	 * @param hosts hosts whose response headers count, such as api.anthropic.com; those
	 * of the type's own API unless set, and where it has none, all
	 * @param retry how calls are retried
	 * @param budget shared allowance of retries
	 * @param limiter how calls are paced
	 * @param breaker when calls are stopped
	 * @param quota what happens once a quota is exhausted
	 */
	@ConfigurationProperties("llm.resilience.providers.default")
	public record ProviderEntry(@Nullable ProviderType type, @Nullable String account, @Nullable List<String> hosts,
			@Nullable Retry retry, @Nullable Budget budget, @Nullable Limiter limiter, @Nullable Breaker breaker,
			@Nullable Quota quota) {

		/** Sets nothing. */
		static final ProviderEntry NOTHING = new ProviderEntry(null, null, null, null, null, null, null, null);

	}

	/**
	 * How calls are retried.
	 *
	 * @param maxAttempts attempts in all on the transport ladder, 1 for no retry of any
	 * kind
	 * @param rateLimitRetries retries on the rate-limit ladder
	 * @param rateLimitMaxElapsed bounds the rate-limit ladder by time instead of by a
	 * count
	 * @param baseDelay ceiling of the first backoff
	 * @param rateLimitBaseDelay ceiling of the first backoff after a rate limit without a
	 * hint
	 * @param maxDelay largest ceiling of a backoff
	 * @param multiplier growth of the ceiling per failure
	 * @param jitter how chance shapes a backoff
	 * @param jitterFactor share by which proportional jitter varies, from 0 to 1
	 * @param retryAfterSpread most that chance adds to a wait that the server asked for
	 * @param maxRetryAfter longest hint that is waited for
	 * @param timeout time that a whole call may take
	 * @param attemptTimeout time that one attempt may take
	 * @param attemptTimeoutMultiplier growth of the attempt timeout per retry
	 * @param attemptThread thread on which attempts of blocking calls run: the caller's,
	 * or a worker that is left behind when the attempt's time is over
	 * @param firstElementTimeout time that a stream may take to its first element; the
	 * attempt timeout unless set
	 * @param idleTimeout time that a stream may be silent while elements are asked for;
	 * no limit unless set
	 * @param onOpen what a call does that finds the breaker open: fail, or wait within
	 * its time
	 * @param idempotencyKeyHeader request header that carries the idempotency key, such
	 * as Idempotency-Key; none unless set
	 * @param failover entries that take over a call that has failed for good, in order
	 * @param failoverOn kinds of failure that they take over after
	 * @param rateLimitEscalateAfter failures on the rate-limit ladder after which a call
	 * fails over instead of being retried
	 */
	public record Retry(@Nullable Integer maxAttempts, @Nullable Integer rateLimitRetries,
			@Nullable Duration rateLimitMaxElapsed, @Nullable Duration baseDelay, @Nullable Duration rateLimitBaseDelay,
			@Nullable Duration maxDelay, @Nullable Double multiplier, @Nullable Jitter jitter,
			@Nullable Double jitterFactor, @Nullable Duration retryAfterSpread, @Nullable Duration maxRetryAfter,
			@Nullable Duration timeout, @Nullable Duration attemptTimeout, @Nullable Double attemptTimeoutMultiplier,
			@Nullable AttemptThread attemptThread, @Nullable Duration firstElementTimeout,
			@Nullable Duration idleTimeout, @Nullable OnOpen onOpen, @Nullable String idempotencyKeyHeader,
			@Nullable List<String> failover, @Nullable Set<FailureKind> failoverOn,
			@Nullable Integer rateLimitEscalateAfter) {

		static final Retry NOTHING = new Retry(null, null, null, null, null, null, null, null, null, null, null, null,
				null, null, null, null, null, null, null, null, null, null);

	}

	/**
	 * Shared allowance of retries.
	 *
	 * @param enabled whether retries are rationed
	 * @param capacity most retries that can be saved up
	 * @param refillPerSuccess retries that a success gives back
	 * @param refillPerMinute retries that come back on their own in a minute
	 */
	public record Budget(@Nullable Boolean enabled, @Nullable Double capacity, @Nullable Double refillPerSuccess,
			@Nullable Double refillPerMinute) {

		static final Budget NOTHING = new Budget(null, null, null, null);

	}

	/**
	 * How calls are paced.
	 *
	 * @param mode how calls are paced: at a rate that is learnt, at the configured rate,
	 * or not at all
	 * @param requestsPerMinute rate, decimals allowed; unless set, every call passes
	 * until a rate has been learnt
	 * @param burst calls that may leave at once after a pause; one second's worth of the
	 * rate unless set
	 * @param share part of all rates that is for this process, above 0 and at most 1, for
	 * example 0.25 for one of four processes
	 * @param initialLevel calls that may leave at once at the start: full for the burst,
	 * empty for none, or a number in between
	 * @param tokensPerMinute tokens of requests and answers together in a minute,
	 * decimals allowed; no limit unless set
	 * @param inputTokensPerMinute tokens of requests in a minute, decimals allowed; no
	 * limit unless set
	 * @param outputTokensPerMinute tokens of answers in a minute, decimals allowed; no
	 * limit unless set
	 * @param defaultTokens tokens that a call is taken to use, input and output together,
	 * where nothing estimates it; what calls have lately used unless set
	 * @param maxConcurrentCalls most calls in flight; no limit unless set
	 * @param maxWait longest that a call waits for its place; the time it has left unless
	 * set
	 * @param maxWaiting most calls that wait; no limit unless set
	 * @param networkMargin how long after the first call of a burst the provider's bucket
	 * is taken to begin refilling
	 * @param sharedWith name of the entry whose limiter this one uses, where the provider
	 * counts the calls of both together; a limiter of its own unless set
	 */
	public record Limiter(@Nullable LimiterMode mode, @Nullable Double requestsPerMinute, @Nullable Integer burst,
			@Nullable Double share, @Nullable String initialLevel, @Nullable Double tokensPerMinute,
			@Nullable Double inputTokensPerMinute, @Nullable Double outputTokensPerMinute, @Nullable Long defaultTokens,
			@Nullable Integer maxConcurrentCalls, @Nullable Duration maxWait, @Nullable Integer maxWaiting,
			@Nullable Duration networkMargin, @Nullable String sharedWith) {

		static final Limiter NOTHING = new Limiter(null, null, null, null, null, null, null, null, null, null, null,
				null, null, null);

	}

	/**
	 * When calls are stopped.
	 *
	 * @param enabled whether calls to a dead provider are stopped
	 * @param failureThreshold consecutive failures that open the breaker
	 * @param failureRateThreshold share of failures over the window that opens it too, in
	 * percent
	 * @param windowSize attempts that the share is taken over
	 * @param slowCallDuration duration beyond which a success counts as a failure
	 * @param openDuration how long the breaker stays open at first
	 * @param maxOpenDuration what failed trials can double that to
	 * @param trialTimeout how long a trial call holds its place without reporting
	 */
	public record Breaker(@Nullable Boolean enabled, @Nullable Integer failureThreshold,
			@Nullable Double failureRateThreshold, @Nullable Integer windowSize, @Nullable Duration slowCallDuration,
			@Nullable Duration openDuration, @Nullable Duration maxOpenDuration, @Nullable Duration trialTimeout) {

		static final Breaker NOTHING = new Breaker(null, null, null, null, null, null, null, null);

	}

	/**
	 * What happens once a quota is exhausted.
	 *
	 * @param coolDown time between probes of an exhausted quota
	 */
	public record Quota(@Nullable Duration coolDown) {

		static final Quota NOTHING = new Quota(null);

	}

}
