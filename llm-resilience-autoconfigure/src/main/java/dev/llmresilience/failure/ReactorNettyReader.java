package dev.llmresilience.failure;

import dev.llmresilience.failure.FailureFacts.Transport;
import org.jspecify.annotations.Nullable;
import reactor.netty.internal.shaded.reactor.pool.PoolAcquirePendingLimitException;
import reactor.netty.internal.shaded.reactor.pool.PoolAcquireTimeoutException;

/**
 * Reads the exceptions of Reactor Netty's connection pool, which turns calls away on this
 * side. Its other exceptions are {@code IOException}s.
 */
final class ReactorNettyReader implements FailureReader {

	@Override
	public @Nullable Transport read(Throwable thrown) {
		boolean poolIsEmpty = thrown instanceof PoolAcquireTimeoutException
				|| thrown instanceof PoolAcquirePendingLimitException;
		return poolIsEmpty ? Transport.NOT_STARTED : null;
	}

}
