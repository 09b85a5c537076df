package dev.llmresilience.actuate;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * An application for which time stands still.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class StoppedApplication {

	@Bean
	StoppedClock clock() {
		return new StoppedClock();
	}

}
