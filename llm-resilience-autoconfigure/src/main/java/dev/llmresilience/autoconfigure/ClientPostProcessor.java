package dev.llmresilience.autoconfigure;

import java.util.function.UnaryOperator;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Adds a hook to those beans that are clients of an SDK. A client that cannot be hooked
 * into stays as it is: what its responses say about limits is then heard of only when
 * they are failures.
 */
final class ClientPostProcessor implements BeanPostProcessor {

	private static final Log logger = LogFactory.getLog(ClientPostProcessor.class);

	private final UnaryOperator<Object> hook;

	/**
	 * Creates a post-processor.
	 * @param hook adds the hook to a client, and returns every other bean as it is
	 */
	ClientPostProcessor(UnaryOperator<Object> hook) {
		this.hook = hook;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		try {
			return this.hook.apply(bean);
		}
		catch (RuntimeException | LinkageError ex) {
			logger.warn("Rate-limit headers of '" + beanName + "' are not read, because its version of "
					+ bean.getClass().getName() + " cannot be hooked into: " + ex.getClass().getName());
			return bean;
		}
	}

}
