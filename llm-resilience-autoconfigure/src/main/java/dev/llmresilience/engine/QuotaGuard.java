package dev.llmresilience.engine;

import java.time.Instant;

import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.breaker.QuotaLatch;
import org.jspecify.annotations.Nullable;

/**
 * What one call holds of the quota latches of its entry and of its account: a permit of
 * each, or of none. Belongs to one call; not thread-safe.
 */
final class QuotaGuard {

	private final Provider provider;

	/** That of the call that this one is nested in. */
	private final @Nullable QuotaGuard outer;

	private QuotaLatch.@Nullable Permit account;

	private QuotaLatch.@Nullable Permit entry;

	QuotaGuard(Provider provider, @Nullable QuotaGuard outer) {
		this.provider = provider;
		this.outer = outer;
	}

	/**
	 * Takes the permits.
	 * @return the latch that refuses one, or {@code null}
	 */
	@Nullable QuotaLatch acquire() {
		this.account = acquire(this.provider.accountQuota());
		if (this.account == null) {
			return this.provider.accountQuota();
		}
		this.entry = acquire(this.provider.quota());
		if (this.entry == null) {
			return this.provider.quota();
		}
		return null;
	}

	private QuotaLatch.@Nullable Permit acquire(QuotaLatch latch) {
		QuotaLatch.Permit probe = outerProbe(latch);
		return (probe != null) ? probe : latch.tryAcquire();
	}

	/**
	 * A nested call that meets the latch of the call around it is part of that call's
	 * probe. Refused, it could never succeed, and neither could the other.
	 */
	private QuotaLatch.@Nullable Permit outerProbe(QuotaLatch latch) {
		for (QuotaGuard around = this.outer; around != null; around = around.outer) {
			QuotaLatch.Permit permit = (around.provider.accountQuota() == latch) ? around.account
					: (around.provider.quota() == latch) ? around.entry : null;
			if (permit != null && permit.holdsProbe()) {
				return permit;
			}
		}
		return null;
	}

	void succeeded() {
		if (this.account != null) {
			this.account.success();
		}
		if (this.entry != null) {
			this.entry.success();
		}
	}

	/** A stream has begun to deliver: a probe need not wait for its end. */
	void delivers() {
		if (this.account != null && this.account.holdsProbe()) {
			this.account.success();
		}
		if (this.entry != null && this.entry.holdsProbe()) {
			this.entry.success();
		}
	}

	/** The provider has said that a quota is exhausted. */
	void exhausted(LlmFailure failure) {
		if (this.account != null) {
			this.account.exhausted();
		}
		if (this.entry != null) {
			this.entry.exhausted();
		}
		this.account = null;
		this.entry = null;
		if (failure.latch() == LatchScope.ACCOUNT) {
			this.provider.accountQuota().latch(failure.code(), failure.resetAt());
		}
		else if (failure.latch() == LatchScope.PROVIDER) {
			this.provider.quota().latch(failure.code(), failure.resetAt());
		}
	}

	/** The attempt has said nothing about the quota, or there was none. */
	void giveBack() {
		QuotaLatch.Permit account = this.account;
		QuotaLatch.Permit entry = this.entry;
		this.account = null;
		this.entry = null;
		neutral(account);
		neutral(entry);
	}

	private void neutral(QuotaLatch.@Nullable Permit permit) {
		if (permit != null && !isOuter(permit)) {
			permit.neutral();
		}
	}

	/**
	 * Whether a probe is that of the call around, which is still under way, so that only
	 * the outcome of this call may end it, and not that it had none.
	 */
	private boolean isOuter(QuotaLatch.Permit permit) {
		for (QuotaGuard around = this.outer; around != null; around = around.outer) {
			if (around.account == permit || around.entry == permit) {
				return true;
			}
		}
		return false;
	}

	/** When calls make sense again after a quota was found exhausted, if one was. */
	@Nullable Instant retryAt() {
		QuotaLatch latched = this.provider.latched();
		Instant resetAt = (latched != null) ? latched.resetAt() : null;
		return (latched != null && resetAt == null) ? latched.nextProbeAt() : resetAt;
	}

}
