package dev.llmresilience.sample.provider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpServer;

/**
 * A provider of models on a free loopback port, to call instead of a real one. It speaks
 * the Anthropic Messages API and the OpenAI chat completions API.
 */
public final class EmbeddedProvider implements AutoCloseable {

	/**
	 * A model without limits that answers once as many requests wait as were announced,
	 * so that a client can open its connections before it is measured.
	 * @see Account#gatherWarmUps(int)
	 */
	public static final String WARM_UP_MODEL = "warm-up";

	private static final int BACKLOG = 4096;

	static {
		// The JDK's server reads these once. Without the first each answer may wait 40 ms
		// for an acknowledgement; by the others it would close connections that clients
		// still hold for usable.
		setIfAbsent("sun.net.httpserver.nodelay", "true");
		setIfAbsent("sun.net.httpserver.maxIdleConnections", "5000");
		setIfAbsent("sun.net.httpserver.idleInterval", "3600");
	}

	private final HttpServer server;

	private final ExecutorService executor;

	private final Map<String, Account> accounts = new LinkedHashMap<>();

	private EmbeddedProvider(HttpServer server, Limits limits) {
		this.server = server;
		this.accounts.put("anthropic", account(new AnthropicDialect(), limits));
		this.accounts.put("openai", account(new OpenAiDialect(), limits));
		AtomicInteger threads = new AtomicInteger();
		this.executor = Executors.newCachedThreadPool((task) -> {
			Thread thread = new Thread(task, "embedded-provider-" + threads.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		});
	}

	/**
	 * Starts a provider.
	 * @param limits the limits of each account
	 * @return the provider, ready for requests
	 */
	public static EmbeddedProvider start(Limits limits) {
		HttpServer server;
		try {
			server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The embedded provider found no free port on the loopback address", ex);
		}
		EmbeddedProvider provider = new EmbeddedProvider(server, limits);
		provider.accounts.values()
			.forEach((account) -> server.createContext(account.dialect().path(),
					new ChatHandler(account, InstantSource.system())));
		server.setExecutor(provider.executor);
		server.start();
		return provider;
	}

	/**
	 * The tokens that a prompt and its answer take together.
	 * @param prompt the prompt
	 * @return tokens
	 */
	public static int tokens(String prompt) {
		return new ChatRequest("", prompt, false, false).allTokens();
	}

	/**
	 * The address without a path.
	 * @return for example {@code http://127.0.0.1:40123}
	 */
	public URI url() {
		InetSocketAddress address = this.server.getAddress();
		return URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort());
	}

	/**
	 * The accounts by the name of their provider.
	 * @return {@code anthropic} and {@code openai}
	 */
	public Map<String, Account> accounts() {
		return Collections.unmodifiableMap(this.accounts);
	}

	/**
	 * The account of a provider.
	 * @param provider {@code anthropic} or {@code openai}
	 * @return the account
	 * @throws IllegalArgumentException for any other name
	 */
	public Account account(String provider) {
		Account account = this.accounts.get(provider);
		if (account == null) {
			throw new IllegalArgumentException(
					"provider must be one of " + String.join(", ", this.accounts.keySet()) + ", but was " + provider);
		}
		return account;
	}

	/**
	 * Stops at once; requests in flight lose their connection.
	 */
	@Override
	public void close() {
		this.accounts.values().forEach((account) -> account.fault(Fault.NONE));
		this.executor.shutdownNow();
		this.server.stop(0);
	}

	private static Account account(Dialect dialect, Limits limits) {
		return new Account(dialect, limits, System::nanoTime, () -> ThreadLocalRandom.current().nextDouble());
	}

	private static void setIfAbsent(String property, String value) {
		if (System.getProperty(property) == null) {
			System.setProperty(property, value);
		}
	}

}
