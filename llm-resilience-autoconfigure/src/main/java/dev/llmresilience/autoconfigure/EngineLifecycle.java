package dev.llmresilience.autoconfigure;

import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.Providers;

import org.springframework.context.SmartLifecycle;

/**
 * Ends all waits first of all when the application shuts down, so that a web server that
 * lets its requests finish does not have to wait for them.
 */
final class EngineLifecycle implements SmartLifecycle {

	private final CallEngine engine;

	private final Providers providers;

	private volatile boolean running;

	EngineLifecycle(CallEngine engine, Providers providers) {
		this.engine = engine;
		this.providers = providers;
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.engine.close();
		this.providers.close();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return Integer.MAX_VALUE;
	}

	/** A pause is no shutdown: what has been closed cannot be opened again. */
	@Override
	public boolean isPauseable() {
		return false;
	}

}
