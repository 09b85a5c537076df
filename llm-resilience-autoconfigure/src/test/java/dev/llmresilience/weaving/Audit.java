package dev.llmresilience.weaving;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.DeclarePrecedence;

/**
 * An aspect of the application, which wants to stand inside of ours.
 */
@Aspect
@DeclarePrecedence("dev.llmresilience.aop.LlmRetryWeaving, dev.llmresilience.weaving.Audit")
public class Audit {

	/**
	 * Tells an object that its method is about to run.
	 * @param joinPoint the method
	 * @return what it returns
	 * @throws Throwable what it throws
	 */
	@Around(value = "execution(@dev.llmresilience.weaving.Audit.Audited * *(..))", argNames = "joinPoint")
	public Object audit(ProceedingJoinPoint joinPoint) throws Throwable {
		((Target) joinPoint.getThis()).event("audit");
		return joinPoint.proceed();
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Audited {

	}

	interface Target {

		void event(String name);

	}

}
