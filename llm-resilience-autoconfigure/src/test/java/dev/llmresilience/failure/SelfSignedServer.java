package dev.llmresilience.failure;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;

/**
 * An HTTPS server whose certificate nobody trusts.
 */
final class SelfSignedServer implements AutoCloseable {

	private static final String PASSWORD = "changeit";

	private final HttpsServer server;

	SelfSignedServer(Path directory) throws Exception {
		Path store = directory.resolve("server.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=localhost", "-keystore",
				store.toString(), "-storepass", PASSWORD)
			.redirectErrorStream(true)
			.redirectOutput(directory.resolve("keytool.log").toFile())
			.start();
		if (keytool.waitFor() != 0) {
			throw new IllegalStateException(Files.readString(directory.resolve("keytool.log")));
		}
		KeyStore keyStore = KeyStore.getInstance("PKCS12");
		try (InputStream input = Files.newInputStream(store)) {
			keyStore.load(input, PASSWORD.toCharArray());
		}
		KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
		keys.init(keyStore, PASSWORD.toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(keys.getKeyManagers(), null, null);
		this.server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.setHttpsConfigurator(new HttpsConfigurator(context));
		this.server.start();
	}

	String url() {
		return "https://localhost:" + this.server.getAddress().getPort();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

}
