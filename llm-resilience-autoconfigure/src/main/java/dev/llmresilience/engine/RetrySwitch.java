package dev.llmresilience.engine;

/**
 * Whether calls of one provider entry are retried at present, those under its key values
 * included. Thread-safe.
 */
final class RetrySwitch {

	private volatile boolean on = true;

	boolean isOn() {
		return this.on;
	}

	void set(boolean on) {
		this.on = on;
	}

}
