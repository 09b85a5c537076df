package dev.llmresilience.aop;

import java.util.function.Supplier;

import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.RecoveryDriver;
import dev.llmresilience.engine.SharedCalls;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The advice around every method for which an {@link dev.llmresilience.LlmRetry} holds:
 * it makes the method's body one attempt of a protected call. Thread-safe.
 */
public final class LlmRetryAspect implements MethodInterceptor {

	private static final Log logger = LogFactory.getLog(LlmRetryAspect.class);

	private final Supplier<MethodPlans> plans;

	private final Supplier<SharedCalls> shared;

	/**
	 * Creates the advice. What it needs is only asked for with the first call, because an
	 * advice is created before the beans that it works with.
	 * @param plans resolves annotations
	 * @param shared knows the calls under way that equal ones can share
	 */
	public LlmRetryAspect(Supplier<MethodPlans> plans, Supplier<SharedCalls> shared) {
		this.shared = SingletonSupplier.of(shared);
		this.plans = SingletonSupplier.of(plans);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target)
				: invocation.getMethod().getDeclaringClass();
		MethodPlan plan = this.plans.get().find(invocation.getMethod(), targetClass);
		if (plan == null) {
			return invocation.proceed();
		}
		Body<@Nullable Object> body = OwnInvocation.of(target, plan.method(), body(invocation));
		RecoveryDriver recovery = plan.recovery();
		if (recovery != null) {
			return recovery.call(invocation.getArguments(), body);
		}
		warnOfTransaction(plan);
		CallPlan calls = plan.calls();
		CallKey key = plan.key();
		CallTokens tokens = plan.tokens();
		long estimate = (tokens != null && (key != null || calls.countsTokens())) ? tokens.of(invocation) : 0;
		Object keyed = (key != null) ? key.of(invocation) : null;
		Fallback<@Nullable Object> fallback = fallback(plan.fallback(), invocation);
		CallKey deduplicate = plan.deduplicate();
		Object equal = (deduplicate != null) ? deduplicate.of(invocation) : null;
		if (equal == null) {
			return plan.shape().call(calls, keyed, estimate, body, fallback);
		}
		return plan.shape()
			.share(this.shared.get(), plan.method(), calls, equal,
					() -> plan.shape().call(calls, keyed, estimate, body, fallback));
	}

	/**
	 * An invocation is used up by proceeding: a second time it would skip the advice
	 * after this one. So each attempt goes through a clone, unless there is none after
	 * this one.
	 */
	private Body<@Nullable Object> body(MethodInvocation invocation) {
		if (invocation instanceof ProxyMethodInvocation proxied && !isLast(proxied)) {
			return () -> proxied.invocableClone().proceed();
		}
		return invocation::proceed;
	}

	private boolean isLast(ProxyMethodInvocation invocation) {
		if (invocation.getProxy() instanceof Advised proxy) {
			int advisors = proxy.getAdvisorCount();
			return advisors == 1 || proxy.indexOf(this) == advisors - 1;
		}
		return false;
	}

	private static @Nullable Fallback<@Nullable Object> fallback(@Nullable FallbackMethod fallback,
			MethodInvocation invocation) {
		if (fallback == null) {
			return null;
		}
		Object target = invocation.getThis();
		return (failure) -> OwnInvocation
			.of(target, fallback.method(), () -> fallback.invoke(target, invocation.getArguments(), failure))
			.run();
	}

	private static void warnOfTransaction(MethodPlan plan) {
		if (OpenTransactions.any() && plan.transactionSeen().compareAndSet(false, true)) {
			logger.warn("A transaction is open while " + plan.method().getDeclaringClass().getName() + "."
					+ plan.method().getName() + " is called: it holds its connection through every wait for '"
					+ plan.calls().first().provider().name() + "'. Call the model outside of the transaction.");
		}
	}

}
