package dev.llmresilience.sample.web;

import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.llmresilience.sample.provider.Account;
import dev.llmresilience.sample.provider.Counts;
import dev.llmresilience.sample.provider.EmbeddedProvider;
import dev.llmresilience.sample.provider.Fault;
import dev.llmresilience.sample.provider.Limits;
import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Steers the embedded provider. Without {@code provider} a change holds for all accounts.
 */
@RestController
@RequestMapping("/provider")
class ProviderController {

	private final EmbeddedProvider provider;

	ProviderController(EmbeddedProvider provider) {
		this.provider = provider;
	}

	@GetMapping
	State state() {
		Map<String, AccountState> accounts = new TreeMap<>();
		this.provider.accounts().forEach((name, account) -> accounts.put(name, AccountState.of(account)));
		return new State(this.provider.url(), accounts);
	}

	@PutMapping("/limits")
	State limits(@RequestBody Limits limits, @RequestParam(required = false) @Nullable String provider) {
		accounts(provider).forEach((account) -> account.limits(limits));
		return state();
	}

	@PutMapping("/faults")
	State faults(@RequestBody Fault fault, @RequestParam(required = false) @Nullable String provider) {
		accounts(provider).forEach((account) -> account.fault(fault));
		return state();
	}

	@PutMapping("/headers")
	State headers(@RequestBody Headers headers, @RequestParam(required = false) @Nullable String provider) {
		accounts(provider).forEach((account) -> account.headers(headers.sent()));
		return state();
	}

	private Collection<Account> accounts(@Nullable String provider) {
		if (provider == null) {
			return this.provider.accounts().values();
		}
		try {
			return List.of(this.provider.account(provider));
		}
		catch (IllegalArgumentException ex) {
			throw Chats.badRequest(String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * Whether answers carry the headers that tell the state of the limits.
	 *
	 * @param sent whether they do
	 */
	record Headers(boolean sent) {
	}

	/**
	 * The embedded provider.
	 *
	 * @param url its address
	 * @param accounts its accounts by name
	 */
	record State(URI url, Map<String, AccountState> accounts) {
	}

	/**
	 * An account of the embedded provider.
	 *
	 * @param limits its limits
	 * @param headers whether its answers carry the state of the limits
	 * @param fault its fault
	 * @param arrived requests since the last burst began
	 * @param answered requests answered with 200 since then
	 * @param rejected requests answered with 429 since then
	 */
	record AccountState(Limits limits, boolean headers, Fault fault, long arrived, long answered, long rejected) {

		static AccountState of(Account account) {
			Counts counts = account.counts();
			return new AccountState(account.limits(), account.headers(), account.fault(), counts.arrived(),
					counts.answered(), counts.rejected());
		}

	}

}
