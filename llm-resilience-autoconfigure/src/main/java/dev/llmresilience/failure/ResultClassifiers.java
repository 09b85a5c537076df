package dev.llmresilience.failure;

import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.LlmFailure;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Asks all result classifiers: first the given ones, then those of the client libraries
 * on the class path. Never throws. Thread-safe.
 */
public final class ResultClassifiers {

	private static final Log logger = LogFactory.getLog(ResultClassifiers.class);

	private final List<ResultClassifier> classifiers;

	/**
	 * Creates the classifiers.
	 * @param first those to ask first, in this order
	 */
	public ResultClassifiers(List<? extends ResultClassifier> first) {
		ClassLoader classLoader = ResultClassifiers.class.getClassLoader();
		List<ResultClassifier> all = new ArrayList<>(first);
		if (ClassUtils.isPresent("org.springframework.ai.chat.model.ChatResponse", classLoader)) {
			all.add(new SpringAiResults());
		}
		if (ClassUtils.isPresent("dev.langchain4j.model.chat.response.ChatResponse", classLoader)) {
			all.add(new LangChain4jResults());
		}
		if (ClassUtils.isPresent("com.anthropic.models.messages.Message", classLoader)) {
			all.add(new AnthropicResults());
		}
		if (ClassUtils.isPresent("com.openai.models.chat.completions.ChatCompletion", classLoader)) {
			all.add(new OpenAiResults());
		}
		this.classifiers = List.copyOf(all);
	}

	/**
	 * Whether any classifier can judge a result at all. Cheap: asked for every result.
	 * @param result what the call returned
	 * @return whether to judge it
	 */
	public boolean knows(Object result) {
		try {
			for (ResultClassifier classifier : this.classifiers) {
				if (classifier.knows(result)) {
					return true;
				}
			}
			return false;
		}
		catch (RuntimeException ex) {
			// To be found, and passed over, when the result is judged.
			return true;
		}
	}

	/**
	 * Judges a result.
	 * @param result what the call returned; for a stream, one of its elements
	 * @param context what is known around it
	 * @return the failure, or {@code null} for a success
	 */
	public @Nullable LlmFailure classify(Object result, FailureContext context) {
		for (ResultClassifier classifier : this.classifiers) {
			try {
				LlmFailure failure = classifier.knows(result) ? classifier.classify(result, context) : null;
				if (failure != null) {
					return failure;
				}
			}
			catch (RuntimeException ex) {
				// A result that cannot be read is the caller's to use. The message may
				// hold anything, so only the type is logged.
				logger.warn("Ignored " + classifier.getClass().getName() + ", which must not throw but threw "
						+ ex.getClass().getName());
			}
		}
		return null;
	}

}
