package dev.llmresilience.engine;

import java.util.function.UnaryOperator;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * Carries what Micrometer's context propagation knows of: tracing, logging contexts and
 * whatever the application has registered. Thread-safe.
 */
public final class MicrometerContextCarrier implements ContextCarrier {

	private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();

	@Override
	public UnaryOperator<Runnable> capture() {
		ContextSnapshot snapshot = this.snapshots.captureAll();
		return snapshot::wrap;
	}

}
