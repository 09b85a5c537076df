package dev.llmresilience.engine;

import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import dev.llmresilience.engine.Flight.Share;

/**
 * The calls under way that equal calls can share. The first of them leads: it makes the
 * call, and all get what becomes of it. One that goes away without an outcome that says
 * anything to the others leaves the lead to the next. This is no cache: once there is an
 * outcome, the next equal call is made anew.
 * <p>
 * Thread-safe. Invariant: a flight that is over is taken out of the map by whoever ended
 * it, or meets it there first, so that what nobody shares is not remembered.
 */
final class InFlight {

	private final ConcurrentMap<Key, Flight> flights = new ConcurrentHashMap<>();

	/**
	 * Shares the call under way of this key, or leads a new one. A call that is nested in
	 * one with the same key must not join: it would wait for itself.
	 * @param key which calls are equal
	 * @param listener is told, at most once, when the share of one that followed has come
	 * to lead or has its outcome; on any thread, so it must be short and hand the call on
	 * rather than make it
	 * @return the share, leading or following
	 */
	Share join(Key key, Runnable listener) {
		while (true) {
			Flight flight = this.flights.computeIfAbsent(key, (first) -> new Flight(first, this::forget));
			Share share = flight.join(listener);
			if (share != null) {
				return share;
			}
			forget(flight);
		}
	}

	/** By the very key that the map holds, which is found whatever its value contains. */
	private void forget(Flight flight) {
		this.flights.remove(flight.key(), flight);
	}

	/**
	 * How many different calls are under way.
	 * @return the number
	 */
	int size() {
		return this.flights.size();
	}

	/**
	 * Which calls are equal: those of one method and provider entry with equal values.
	 * The hash is taken when the key is made, so that one whose value changes during the
	 * call is still found by those who share it.
	 *
	 * @param method the method, or whatever stands for it
	 * @param provider the name of the provider entry
	 * @param value the value of the expression; it needs {@code equals} and
	 * {@code hashCode}, and is never shown
	 * @param hash the hash of the other three
	 */
	record Key(Object method, String provider, Object value, int hash) {

		Key(Object method, String provider, Object value) {
			this(method, provider, value, Objects.hash(method, provider, value));
		}

		@Override
		public int hashCode() {
			return this.hash;
		}

		@Override
		public String toString() {
			return "a call of '" + this.provider + "'";
		}

	}

}
