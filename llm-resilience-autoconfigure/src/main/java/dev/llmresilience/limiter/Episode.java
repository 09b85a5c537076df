package dev.llmresilience.limiter;

/**
 * All rejections of calls that were sent before the first of them was heard: the one of
 * these calls that was sent last, and what was accepted until then.
 * <p>
 * Not thread-safe.
 */
final class Episode {

	private long at;

	private double number;

	private double accepted;

	private double rejected;

	/**
	 * Begins with a rejected call.
	 * @param call the call
	 */
	Episode(Sent call) {
		this.at = call.at();
		this.number = call.number();
	}

	/** When the call was sent. */
	long at() {
		return this.at;
	}

	/** What was accepted until then. */
	double accepted() {
		return this.accepted;
	}

	/** What of it was rejected. */
	double rejected() {
		return this.rejected;
	}

	/**
	 * Takes one more rejected call in.
	 * @param call the call
	 * @param rejected what was rejected of all that was sent until now, less what calls
	 * turned out to cost more
	 */
	void include(Sent call, double rejected) {
		boolean later = (call.number() != this.number) ? call.number() > this.number : call.at() - this.at > 0;
		if (later) {
			this.at = call.at();
			this.number = call.number();
		}
		this.accepted = this.number - rejected;
		this.rejected += call.cost();
	}

	/**
	 * Corrects what was accepted, if a call is one of those until then.
	 * @param number the call's number
	 * @param difference what was accepted more
	 */
	void correct(double number, double difference) {
		if (number <= this.number) {
			this.accepted += difference;
		}
	}

}
