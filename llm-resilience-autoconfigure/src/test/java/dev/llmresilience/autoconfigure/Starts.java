package dev.llmresilience.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Starts real applications, so that what a user reads when one fails is really printed.
 */
final class Starts {

	private final StandardEnvironment environment = new StandardEnvironment();

	private final Map<String, Object> properties = new LinkedHashMap<>();

	private Class<?> configuration = Empty.class;

	Starts with(String property, Object value) {
		this.properties.put(property, value);
		return this;
	}

	Starts with(Class<?> configuration) {
		this.configuration = configuration;
		return this;
	}

	Starts withYaml(String yaml) {
		try {
			new YamlPropertySourceLoader()
				.load("application.yml", new ByteArrayResource(yaml.getBytes(UTF_8), "application.yml"))
				.forEach(this.environment.getPropertySources()::addLast);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return this;
	}

	Starts withVariable(String name, String value) {
		this.environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", Map.of(name, value)));
		return this;
	}

	/**
	 * Starts the application.
	 * @return its context, to be closed
	 */
	ConfigurableApplicationContext run() {
		this.environment.getPropertySources().addFirst(new MapPropertySource("test", this.properties));
		SpringApplication application = new SpringApplication(this.configuration, Empty.class);
		application.setEnvironment(this.environment);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setRegisterShutdownHook(false);
		return application.run();
	}

	/**
	 * Starts the application, which must fail.
	 * @return the exception that its main method would throw
	 */
	Exception fail() {
		try (ConfigurableApplicationContext context = run()) {
			throw new AssertionError("Started all the same: " + context.getId());
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class })
	static class Empty {

	}

}
