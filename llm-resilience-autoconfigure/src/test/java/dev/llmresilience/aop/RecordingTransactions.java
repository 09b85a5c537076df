package dev.llmresilience.aop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Transactions of nothing, which note when they begin and how they end.
 */
public class RecordingTransactions extends AbstractPlatformTransactionManager {

	private static final long serialVersionUID = 1L;

	private final transient List<String> events = new CopyOnWriteArrayList<>();

	/**
	 * What has happened, to which others may add.
	 * @return the events
	 */
	public List<String> events() {
		return this.events;
	}

	@Override
	protected Object doGetTransaction() {
		return this.events;
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		this.events.add("begin");
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		this.events.add("commit");
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
		this.events.add("rollback");
	}

}
