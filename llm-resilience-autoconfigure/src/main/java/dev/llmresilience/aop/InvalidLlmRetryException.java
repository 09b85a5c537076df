package dev.llmresilience.aop;

import java.io.Serial;
import java.lang.reflect.Method;

/**
 * An {@link dev.llmresilience.LlmRetry} that cannot work. Stops the start of the
 * application, with a message that says what to do.
 */
public final class InvalidLlmRetryException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates the exception.
	 * @param method the annotated method
	 * @param attribute the attribute that is wrong
	 * @param value its value
	 * @param problem what is wrong with it, as the end of a sentence
	 * @param action what to do
	 */
	public InvalidLlmRetryException(Method method, String attribute, String value, String problem, String action) {
		super("@LlmRetry(" + attribute + " = \"" + value + "\") on " + method.getDeclaringClass().getName() + "."
				+ method.getName() + " " + problem);
		this.action = action;
	}

	/**
	 * What to do about it.
	 * @return the advice, a whole sentence
	 */
	public String action() {
		return this.action;
	}

}
