package dev.llmresilience.tools;

import java.lang.reflect.Method;

import dev.llmresilience.ReadOnlyTool;

import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Tells which methods are tools that only read.
 */
final class ToolMethods {

	private ToolMethods() {
	}

	static boolean isReadOnly(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, ReadOnlyTool.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), ReadOnlyTool.class);
	}

}
