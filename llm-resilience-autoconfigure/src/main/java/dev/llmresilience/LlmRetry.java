package dev.llmresilience;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Protects a method that calls a model: its failures are judged and retried where that
 * can help, and its calls go through the limiter, the retry budget and the circuit
 * breaker of a provider entry in {@code llm.resilience.providers}.
 *
 * <pre class="code">
 * &#64;LlmRetry("anthropic")
 * String summarise(String text) {
 *     return this.chat.prompt(text).call().content();
 * }
 * </pre>
 *
 * It may stand on a method, on a class (then it holds for all of its methods), on an
 * interface or its methods, and on other annotations, at any depth. The one on a method
 * wins over the one on its type, and the one on a class over the one on its interface.
 * <p>
 * A failure that is given up on reaches the caller as the very exception that the
 * provider's client threw, with an {@link LlmCallReport} attached. A call that never left
 * fails with a {@link LlmCallRefusedException}.
 *
 * @see LlmResilience
 */
@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface LlmRetry {

	/**
	 * Alias for {@link #provider()}.
	 * @return the name of the provider entry
	 */
	@AliasFor("provider")
	String value() default "default";

	/**
	 * The provider entry whose policy and guards hold: a key of
	 * {@code llm.resilience.providers}, or {@code default}. An unknown name stops the
	 * start of the application, unless {@code llm.resilience.strict} is {@code false}.
	 * @return the name of the provider entry
	 */
	@AliasFor("value")
	String provider() default "default";

	/**
	 * The most attempts of one call, the first included, over both ladders. {@code 1}
	 * means no retry at all.
	 * @return the number, or {@code 0} for the policy of the provider entry
	 */
	int maxAttempts() default 0;

	/**
	 * The time that the whole call may take, waits included, such as {@code "30s"}.
	 * Placeholders are resolved.
	 * @return the duration, or an empty string for the policy of the provider entry
	 */
	String timeout() default "";

	/**
	 * The time that one attempt may take, such as {@code "10s"}. Placeholders are
	 * resolved. An attempt that takes longer is interrupted.
	 * @return the duration, or an empty string for the policy of the provider entry
	 */
	String attemptTimeout() default "";

	/**
	 * Whether the method may safely run twice. If not, a failure after which it is
	 * unknown whether the request took effect (a timeout, a connection that broke after
	 * sending) is not retried.
	 * @return whether it may; generating text does no harm twice, so {@code true} unless
	 * set
	 */
	boolean idempotent() default true;

	/**
	 * The bean that decides what happens when the method fails, in place of everything
	 * that protects a call to a model. For methods that call no model, but whose repeat
	 * may do harm, such as a tool that sends a message. An unknown name stops the start
	 * of the application, and so does a method that returns before it has its result.
	 * Only {@link #provider()}, whose rules judge the failure, and {@link #maxAttempts()}
	 * go with it.
	 * @return the name of a bean of type {@link RecoveryStrategy}, or an empty string for
	 * a method that calls a model
	 */
	String recovery() default "";

	/**
	 * The method of the same class that is called when the call has failed for good. It
	 * takes the same parameters, and may take a {@link Throwable} after them, which is
	 * then the failure. It is not called for a request that was wrong
	 * ({@link FailureKind#INVALID_REQUEST}), for the caller's own exceptions
	 * ({@link FailureKind#APPLICATION}), or when the caller went away.
	 * @return the name of the method, or an empty string for none
	 */
	String fallbackMethod() default "";

	/**
	 * How urgent the method's calls are to those who wait for the same limiter.
	 * @return the priority
	 */
	Priority priority() default Priority.NORMAL;

	/**
	 * A SpEL expression over the arguments, such as {@code "#tenant"}: each of its values
	 * has a limiter, a budget, a breaker and a quota latch of its own, under the policy
	 * of the provider entry. At most {@code llm.resilience.max-keys} values of one entry
	 * are kept, and those that nobody uses go first. {@code null} means the guards of the
	 * entry itself.
	 * @return the expression, or an empty string for none
	 */
	String key() default "";

	/**
	 * A SpEL expression over the arguments, such as {@code "#tenant + #question"}: calls
	 * of this method that are under way at the same time with equal values share one. A
	 * failure of the provider is shared too; when the one that makes the call is
	 * cancelled, out of time or refused here, another takes over. Nothing is kept once a
	 * call has ended. All get the same result object, so put into the value whatever must
	 * not be shared, such as the tenant. {@code null} means not to share. Not for methods
	 * that return a stream.
	 * @return the expression, or an empty string for none
	 */
	String deduplicate() default "";

	/**
	 * A SpEL expression over the arguments that estimates the tokens of a call, input and
	 * output together, such as {@code "#text.length() / 4 + 500"} or just {@code "2000"}.
	 * It only matters where tokens are limited, and the limiter corrects estimates by how
	 * they have lately turned out.
	 * @return the expression, or an empty string for the {@link TokenEstimator}, or else
	 * {@code limiter.default-tokens}
	 */
	String tokens() default "";

	/**
	 * The provider entries that take over, in this order, a call that has failed for good
	 * although another provider could serve it. The method is then invoked again as a
	 * call of that entry, under its guards, and finds its name in
	 * {@link LlmCall#provider()}. When all fail, the first one's failure reaches the
	 * caller. A request that was wrong, and the caller's own exceptions, never fail over.
	 * @return the names, or none for {@code retry.failover} of the provider entry
	 */
	String[] failover() default {};

	/**
	 * Exceptions to retry even where their kind would not be. The cause chain counts. A
	 * cancelled call and an exhausted quota are never retried.
	 * @return the exception classes
	 */
	Class<? extends Throwable>[] retryOn() default {};

	/**
	 * Exceptions not to retry even where their kind would be. The cause chain counts, and
	 * this beats {@link #retryOn()}.
	 * @return the exception classes
	 */
	Class<? extends Throwable>[] noRetryOn() default {};

}
