package dev.llmresilience.autoconfigure;

import dev.llmresilience.aop.ProtectedMethodHints;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Lets a native image keep what the protected methods of beans need by reflection.
 */
final class ProtectedMethodsAotProcessor implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> type = registeredBean.getBeanClass();
		return ProtectedMethodHints.isNeededBy(type)
				? (context, code) -> ProtectedMethodHints.register(context.getRuntimeHints(), type) : null;
	}

}
