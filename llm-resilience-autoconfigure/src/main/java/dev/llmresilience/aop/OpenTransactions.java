package dev.llmresilience.aop;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Knows whether the calling thread has a transaction open. The one place that names
 * Spring's transactions, which need not be there.
 */
final class OpenTransactions {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			OpenTransactions.class.getClassLoader());

	private OpenTransactions() {
	}

	static boolean any() {
		return PRESENT && TransactionSynchronizationManager.isActualTransactionActive();
	}

}
