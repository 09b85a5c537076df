package dev.llmresilience.aop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;

import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.DeclarePrecedence;
import org.aspectj.lang.reflect.MethodSignature;
import org.aspectj.runtime.internal.AroundClosure;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * The other way to {@link LlmRetryAspect}, for those who weave: AspectJ puts this into
 * the annotated methods themselves, so that a call is protected that no proxy sees.
 * {@code META-INF/aop.xml} names it to the weaver, and it is no bean: there is one for
 * all applications of a class loader, and without a running application it lets every
 * call pass. Thread-safe.
 * <p>
 * It sees an annotation on the method that runs, and on the type that declares that or
 * one above; composed, to a depth of two. AspectJ has no words for one that stands on the
 * method of a type above.
 */
@Aspect
@DeclarePrecedence("dev.llmresilience.aop.LlmRetryWeaving, org.springframework..*")
public final class LlmRetryWeaving {

	private static final String X = "@dev.llmresilience.LlmRetry";

	private static final String TYPE_WITH_X = X + " *";

	private static final String TYPE_WITH_C = "@(" + TYPE_WITH_X + ") *";

	private static final String TYPE_WITH_CC = "@(" + TYPE_WITH_C + ") *";

	private static final String ON_METHOD = "execution(" + X + " * *(..)) || execution(@(" + TYPE_WITH_X
			+ ") * *(..)) || execution(@(" + TYPE_WITH_C + ") * *(..))";

	/** For what a proxy reaches: neither private nor static methods. */
	private static final String ON_TYPE = "execution(!private !static * ((" + TYPE_WITH_X + ") || (" + TYPE_WITH_C
			+ ") || (" + TYPE_WITH_CC + ")).*(..))";

	/** A proxy only hands the call on. */
	private static final String IN_PROXY = "within(org.springframework.aop.SpringProxy+) || within(java.lang.reflect.Proxy+)";

	private static final LlmRetryWeaving INSTANCE = new LlmRetryWeaving();

	private LlmRetryWeaving() {
	}

	/**
	 * The aspect, for woven code. A weaver would add this method itself, but only where
	 * its configuration includes the aspect's own package, which nobody thinks of.
	 * @return the only instance
	 */
	public static LlmRetryWeaving aspectOf() {
		return INSTANCE;
	}

	/**
	 * Stands around every annotated method.
	 * @param joinPoint the method about to run
	 * @return what it returns to its caller
	 * @throws Throwable what it throws to its caller
	 */
	@Around(value = "(" + ON_METHOD + " || " + ON_TYPE + ") && !(" + IN_PROXY + ")", argNames = "joinPoint")
	public @Nullable Object call(ProceedingJoinPoint joinPoint) throws Throwable {
		Invocation invocation = new Invocation(joinPoint);
		// Only a proxy makes a publisher of a suspending function.
		boolean passes = Suspending.is(invocation.getMethod()) || OwnInvocation.includes(invocation);
		LlmRetryAspect advice = passes ? null : WovenAdvice.connected();
		return (advice != null) ? advice.invoke(invocation) : invocation.proceed();
	}

	private static final class Invocation implements MethodInvocation {

		/** The field in which a join point keeps what its aspects proceed to. */
		private static final String STACK = "arcs";

		private final ProceedingJoinPoint joinPoint;

		private final @Nullable AroundClosure next;

		Invocation(ProceedingJoinPoint joinPoint) {
			this.joinPoint = joinPoint;
			this.next = next(joinPoint);
		}

		/**
		 * Where other aspects stand around the same method, a join point counts which one
		 * is proceeding, and miscounts from the third time on, and on another thread: it
		 * then leaves out those inside of this one. So what comes next is looked up once,
		 * while the count is right.
		 */
		private static @Nullable AroundClosure next(ProceedingJoinPoint joinPoint) {
			Field field = ReflectionUtils.findField(joinPoint.getClass(), STACK);
			if (field == null) {
				return null;
			}
			ReflectionUtils.makeAccessible(field);
			return (ReflectionUtils.getField(field, joinPoint) instanceof List<?> stack
					&& stack.get(stack.size() - 1) instanceof AroundClosure next) ? next : null;
		}

		@Override
		public Method getMethod() {
			return ((MethodSignature) this.joinPoint.getSignature()).getMethod();
		}

		@Override
		public @Nullable Object getThis() {
			return this.joinPoint.getThis();
		}

		@Override
		public Object[] getArguments() {
			return this.joinPoint.getArgs();
		}

		@Override
		public AccessibleObject getStaticPart() {
			return getMethod();
		}

		@Override
		public @Nullable Object proceed() throws Throwable {
			AroundClosure next = this.next;
			return OwnInvocation.run(getThis(), getMethod(), true,
					(next != null) ? () -> next.run(next.getState()) : this.joinPoint::proceed);
		}

	}

}
