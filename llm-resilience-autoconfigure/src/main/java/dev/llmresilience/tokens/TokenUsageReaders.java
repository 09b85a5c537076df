package dev.llmresilience.tokens;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Asks all readers of token usage: first the given ones, then those of the client
 * libraries on the class path. Never throws. Thread-safe.
 */
public final class TokenUsageReaders {

	private static final Log logger = LogFactory.getLog(TokenUsageReaders.class);

	private final List<TokenUsageReader> readers;

	private final Set<TokenUsageReader> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the readers.
	 * @param first those to ask first, in this order
	 */
	public TokenUsageReaders(List<? extends TokenUsageReader> first) {
		ClassLoader classLoader = TokenUsageReaders.class.getClassLoader();
		List<TokenUsageReader> all = new ArrayList<>(first);
		if (ClassUtils.isPresent("org.springframework.ai.chat.model.ChatResponse", classLoader)) {
			all.add(new SpringAiUsage());
		}
		if (ClassUtils.isPresent("dev.langchain4j.model.chat.response.ChatResponse", classLoader)) {
			all.add(new LangChain4jUsage());
		}
		if (ClassUtils.isPresent("com.anthropic.models.messages.Message", classLoader)) {
			all.add(new AnthropicUsage());
		}
		if (ClassUtils.isPresent("com.openai.models.chat.completions.ChatCompletion", classLoader)) {
			all.add(new OpenAiUsage());
		}
		this.readers = List.copyOf(all);
	}

	/**
	 * Reads the usage.
	 * @param result what a protected method returned
	 * @return the usage, or {@code null} if no reader knows the result, or it does not
	 * say
	 */
	public @Nullable TokenUsage read(Object result) {
		for (TokenUsageReader reader : this.readers) {
			try {
				TokenUsage usage = reader.read(result);
				if (usage != null) {
					return usage;
				}
			}
			catch (RuntimeException | Error ex) {
				// The call has succeeded, whatever can be read from its result. The
				// message may hold anything, so only the type is logged.
				if (this.warned.add(reader)) {
					logger.warn("Ignored " + reader.getClass().getName() + ", which must not throw but threw "
							+ ex.getClass().getName());
				}
			}
		}
		return null;
	}

	/**
	 * A usage out of what a library may leave out.
	 * @param input tokens of the request, {@code null} if it does not say
	 * @param output tokens of the answer, {@code null} if it does not say
	 * @return the usage, {@code null} if it says neither; below zero counts as zero
	 */
	static @Nullable TokenUsage usage(@Nullable Number input, @Nullable Number output) {
		return (input == null && output == null) ? null : new TokenUsage(atLeastZero(input), atLeastZero(output));
	}

	static long atLeastZero(@Nullable Number tokens) {
		return (tokens != null) ? Math.max(0, tokens.longValue()) : 0;
	}

}
