package dev.llmresilience.failure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * A port whose queue of connections is full, so that connecting to it takes for ever.
 */
final class FullBacklog implements AutoCloseable {

	private final ServerSocket socket;

	private final List<Socket> clients = new ArrayList<>();

	FullBacklog() throws IOException {
		this.socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		boolean full = false;
		while (!full) {
			Socket client = new Socket();
			this.clients.add(client);
			try {
				client.connect(this.socket.getLocalSocketAddress(), 200);
			}
			catch (IOException ex) {
				full = true;
			}
		}
	}

	int port() {
		return ((InetSocketAddress) this.socket.getLocalSocketAddress()).getPort();
	}

	@Override
	public void close() throws IOException {
		for (Socket client : this.clients) {
			client.close();
		}
		this.socket.close();
	}

}
