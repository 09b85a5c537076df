package dev.llmresilience;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares that a tool may run twice without harm, because it only reads: a call to a
 * model that has run it may still be retried or fail over. Every other tool that a model
 * calls counts as a {@linkplain LlmCall#sideEffect() side effect}.
 *
 * <pre class="code">
 * &#64;Tool(description = "The weather of a city")
 * &#64;ReadOnlyTool
 * String weather(String city) {
 *     return this.stations.latest(city);
 * }
 * </pre>
 *
 * Stands on the tool's method, or on its class for all tools of that class, and may be
 * part of other annotations. It works with the {@code @Tool} annotations of Spring AI and
 * LangChain4j.
 */
@Target({ ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface ReadOnlyTool {

}
