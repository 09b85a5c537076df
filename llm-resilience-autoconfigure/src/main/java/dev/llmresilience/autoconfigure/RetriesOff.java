package dev.llmresilience.autoconfigure;

import java.util.function.UnaryOperator;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.env.Environment;

/**
 * Switches the retries of those beans off that are clients of an SDK, where they are to
 * be taken over. A client that cannot be changed stays as it is, and is warned of.
 */
final class RetriesOff implements BeanPostProcessor {

	private final boolean takeOver;

	private final UnaryOperator<Object> off;

	/**
	 * Creates a post-processor.
	 * @param environment says whether retries are taken over
	 * @param off switches the retries of a client off, and returns every other bean as it
	 * is
	 */
	RetriesOff(Environment environment, UnaryOperator<Object> off) {
		this.takeOver = TakeOver.isOn(environment);
		this.off = off;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		try {
			return this.takeOver ? this.off.apply(bean) : bean;
		}
		catch (RuntimeException | LinkageError ex) {
			return bean;
		}
	}

}
