package dev.llmresilience.sample.provider;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Fault} and {@link Faults}.
 */
class FaultTests {

	private double draw;

	private final Faults faults = new Faults(() -> this.draw);

	@Test
	void a_fault_with_a_count_hits_that_many_requests() {
		this.faults.set(Fault.of(FaultKind.OVERLOADED).times(2));
		assertThat(next()).isEqualTo(FaultKind.OVERLOADED);
		assertThat(next()).isEqualTo(FaultKind.OVERLOADED);
		assertThat(next()).isEqualTo(FaultKind.NONE);
		assertThat(this.faults.current()).isEqualTo(Fault.NONE);
	}

	@Test
	void a_fault_without_a_count_hits_until_it_is_switched_off() {
		this.faults.set(Fault.of(FaultKind.RESET));
		assertThat(next()).isEqualTo(FaultKind.RESET);
		assertThat(next()).isEqualTo(FaultKind.RESET);
		this.faults.set(Fault.NONE);
		assertThat(next()).isEqualTo(FaultKind.NONE);
	}

	@Test
	void a_request_that_a_probable_fault_misses_does_not_use_up_its_count() {
		this.faults.set(new Fault(FaultKind.SERVER_ERROR, 1, 0.3, null, null));
		this.draw = 0.3;
		assertThat(next()).isEqualTo(FaultKind.NONE);
		this.draw = 0.2;
		assertThat(next()).isEqualTo(FaultKind.SERVER_ERROR);
		assertThat(next()).isEqualTo(FaultKind.NONE);
	}

	@Test
	void switching_to_another_fault_releases_what_hangs() {
		this.faults.set(Fault.of(FaultKind.HANG));
		Faults.Hit hit = this.faults.next();
		assertThat(hit.released().getCount()).isOne();
		this.faults.set(Fault.NONE);
		assertThat(hit.released().getCount()).isZero();
	}

	@Test
	void bad_values_are_refused_with_what_is_allowed() {
		assertThatIllegalArgumentException().isThrownBy(() -> new Fault(FaultKind.HANG, 0, null, null, null))
			.withMessage("count must be at least 1, but was 0");
		assertThatIllegalArgumentException().isThrownBy(() -> new Fault(FaultKind.HANG, null, 1.5, null, null))
			.withMessage("probability must be between 0 and 1, but was 1.5");
		assertThatIllegalArgumentException().isThrownBy(() -> new Fault(FaultKind.HANG, null, null, -1, null))
			.withMessage("retryAfterSeconds must not be negative, but was -1");
		assertThatIllegalArgumentException().isThrownBy(() -> Fault.of(FaultKind.STATUS))
			.withMessage("status must be given with the fault 'status', and only with it");
		assertThatIllegalArgumentException().isThrownBy(() -> Fault.ofStatus(200))
			.withMessage("status must be between 400 and 599, but was 200");
		assertThatIllegalArgumentException().isThrownBy(() -> FaultKind.of("bad"))
			.withMessage("fault must be one of none, rate-limited, overloaded, server-error, reset, hang, spend-cap, "
					+ "malformed, status, but was bad");
	}

	@Test
	void limits_are_refused_with_what_is_allowed() {
		assertThatIllegalArgumentException().isThrownBy(() -> new Limits(0, 1))
			.withMessage("requestsPerSecond must be more than 0 and at most 100000, but was 0.0");
		assertThatIllegalArgumentException().isThrownBy(() -> new Limits(Double.NaN, 1)).withMessageContaining("NaN");
		assertThatIllegalArgumentException().isThrownBy(() -> new Limits(1, 0))
			.withMessage("burst must be between 1 and 1000000, but was 0");
		assertThatIllegalArgumentException().isThrownBy(() -> new Limits(1, 1, -1, null))
			.withMessage("latencyMillis must be between 0 and 600000, but was -1");
		assertThatIllegalArgumentException().isThrownBy(() -> new Limits(1, 1, null, 0))
			.withMessage("tokensPerMinute must be at least 1, but was 0");
	}

	@Test
	void the_floor_of_a_burst_is_that_of_the_scarcer_limit() {
		assertThat(new Limits(10, 20).floorSeconds(100, 1000)).isEqualTo(8);
		assertThat(new Limits(10, 20, null, 6000).floorSeconds(100, 8)).isEqualTo(8);
		assertThat(new Limits(10, 20, null, 600).floorSeconds(100, 8)).isEqualTo(20);
		assertThat(new Limits(10, 200, null, 600).floorSeconds(100, 6)).isZero();
	}

	@Test
	void a_fault_reads_as_json_with_only_its_kind() {
		assertThat(new JsonMapper().readValue("{\"fault\":\"spend-cap\"}", Fault.class))
			.isEqualTo(Fault.of(FaultKind.SPEND_CAP));
	}

	private FaultKind next() {
		return this.faults.next().fault().fault();
	}

}
