package dev.llmresilience.http;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class ResponseLimitsTests {

	@ParameterizedTest(name = "{0}: {1} -> {2}")
	@CsvSource(nullValues = "none",
			value = { "x-api-key, sk-ant-1, sk-ant-1", "api-key, 0123abc, 0123abc", "x-goog-api-key, AIza1, AIza1",
					"authorization, Bearer sk-1, Bearer sk-1", "authorization, Bearer eyJhbGciOi.x.y, none",
					"authorization, AWS4-HMAC-SHA256 Credential=x, none", "x-request-id, 1, none" })
	void whatStaysTheSameFromRequestToRequestIsAnApiKey(String header, String value, String key) {
		assertThat(ResponseLimits.apiKey((name) -> name.equals(header) ? List.of(value) : List.of())).isEqualTo(key);
	}

}
