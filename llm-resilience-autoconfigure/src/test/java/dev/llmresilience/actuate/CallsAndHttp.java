package dev.llmresilience.actuate;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.engine.Providers;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.RestClientResponseException;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Also makes the calls in the application that it then asks about.
 */
abstract class CallsAndHttp extends OverHttp {

	@Autowired
	Providers providers;

	@Autowired
	LlmResilience resilience;

	/**
	 * Makes a call that a provider refuses.
	 * @param provider its name
	 * @param status what it answers with
	 * @param body what it says
	 * @param headers what comes with that
	 * @return what the caller gets
	 */
	Throwable failure(String provider, int status, String body, HttpHeaders headers) {
		return catchThrowable(() -> this.resilience.call(provider, () -> {
			throw new RestClientResponseException("secret", HttpStatusCode.valueOf(status), "", headers,
					body.getBytes(UTF_8), UTF_8);
		}));
	}

}
