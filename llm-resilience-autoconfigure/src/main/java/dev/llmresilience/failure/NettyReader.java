package dev.llmresilience.failure;

import java.nio.channels.ClosedChannelException;

import javax.net.ssl.SSLHandshakeException;

import dev.llmresilience.failure.FailureFacts.Transport;
import io.netty.channel.ChannelException;
import io.netty.handler.timeout.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads those exceptions of Netty that are no {@code IOException}s, or hide what they are
 * about.
 */
final class NettyReader implements FailureReader {

	@Override
	public @Nullable Transport read(Throwable thrown) {
		if (thrown instanceof TimeoutException) {
			return Transport.TIMED_OUT;
		}
		if (thrown instanceof ClosedChannelException && happenedInHandshake(thrown)) {
			return Transport.NOT_CONNECTED;
		}
		return (thrown instanceof ChannelException) ? Transport.BROKEN : null;
	}

	private static boolean happenedInHandshake(Throwable thrown) {
		for (Throwable suppressed : thrown.getSuppressed()) {
			if (suppressed instanceof SSLHandshakeException) {
				return true;
			}
		}
		return false;
	}

}
