package dev.llmresilience.autoconfigure;

import org.springframework.beans.factory.aot.BeanRegistrationExcludeFilter;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Keeps the guards of provider entries out of what is generated ahead of time: which
 * entries there are is configuration, and may differ where the application runs.
 * {@link ProviderGuardBeans} registers them there again.
 */
final class ProviderGuardAotFilter implements BeanRegistrationExcludeFilter {

	@Override
	public boolean isExcludedFromAotProcessing(RegisteredBean registeredBean) {
		return registeredBean.getMergedBeanDefinition().hasAttribute(ProviderGuardBeans.GUARD);
	}

}
