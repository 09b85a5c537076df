package dev.llmresilience.autoconfigure;

import dev.llmresilience.LlmCallListener;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.TokenUsageReader;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Mode;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.CallMonitor;
import dev.llmresilience.engine.CallTrace;
import dev.llmresilience.engine.ContextCarrier;
import dev.llmresilience.engine.DefaultLlmResilience;
import dev.llmresilience.engine.FutureDriver;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.failure.ResultClassifier;
import dev.llmresilience.failure.ResultClassifiers;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.tokens.TokenUsageReaders;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of protected calls: the advice for annotated methods, the
 * programmatic twin, and what both share. With {@code llm.resilience.enabled=false} all
 * beans that an application may inject are still there, but no call is protected.
 */
@AutoConfiguration
@Import({ LlmRetryConfiguration.class, ReactiveConfiguration.class, ContextConfiguration.class,
		MetricsConfiguration.class, ObservationConfiguration.class })
@EnableConfigurationProperties(LlmResilienceProperties.class)
public final class LlmResilienceAutoConfiguration {

	private static final Log logger = LogFactory.getLog(LlmResilienceAutoConfiguration.class);

	LlmResilienceAutoConfiguration() {
	}

	@Bean
	static EmptyGroups llmEmptyGroups() {
		return new EmptyGroups();
	}

	@Bean
	static ProviderGuardBeans llmProviderGuardBeans(Environment environment) {
		return new ProviderGuardBeans(environment);
	}

	@Bean
	@ConditionalOnMissingBean(TimeSource.class)
	SystemTimeSource llmTimeSource() {
		return new SystemTimeSource();
	}

	/**
	 * Asks the application's own classifiers first, in their order.
	 */
	@Bean
	@ConditionalOnMissingBean
	DefaultFailureClassifier llmFailureClassifier(ObjectProvider<FailureClassifier> classifiers) {
		return new DefaultFailureClassifier(
				classifiers.orderedStream((type) -> type != DefaultFailureClassifier.class).toList());
	}

	@Bean
	Providers llmProviders(LlmResilienceProperties properties, Environment environment, TimeSource time,
			ApplicationEventPublisher publisher, ObjectProvider<CallMonitor.Factory> monitors) {
		new PropertyNames().check(environment);
		PropertyChecks.check(properties);
		return new Providers(ProviderSettingsFactory.create(ProviderNames.spelled(properties.providers(), environment)),
				properties.maxKeys(), time, new GuardEvents(publisher),
				monitors.getIfAvailable(() -> CallMonitor.Factory.NONE));
	}

	@Bean(destroyMethod = "end")
	CallEngine llmCallEngine(LlmResilienceProperties properties, TimeSource time, DefaultFailureClassifier classifier,
			ObjectProvider<ResultClassifier> results, ObjectProvider<TokenUsageReader> usages,
			ObjectProvider<ContextCarrier> context, ObjectProvider<CallTrace.Tracer> tracer,
			ObjectProvider<LlmCallListener> listeners, ApplicationEventPublisher publisher) {
		if (properties.mode() == Mode.OBSERVE) {
			logger
				.info("llm.resilience.mode is observe: calls to models are judged and counted, and nothing is done to "
						+ "them. See the meter llm.observed, and set the mode to enforce to protect them.");
		}
		return CallEngine.builder(time, classifier)
			.results(new ResultClassifiers(results.orderedStream().toList()))
			.usages(new TokenUsageReaders(usages.orderedStream().toList()))
			.context(context.getIfAvailable(() -> ContextCarrier.NONE))
			.observing(properties.mode() == Mode.OBSERVE)
			.tracer(tracer.getIfAvailable(() -> CallTrace.Tracer.NONE))
			.listener(new CallReports(listeners.orderedStream().toList(), publisher))
			.build();
	}

	@Bean
	FutureDriver llmFutureDriver(CallEngine engine) {
		return new FutureDriver(engine);
	}

	@Bean
	BlockingDriver llmBlockingDriver(CallEngine engine) {
		return new BlockingDriver(engine);
	}

	@Bean
	@ConditionalOnMissingBean
	LlmResilience llmResilience(LlmResilienceProperties properties, Providers providers, BlockingDriver driver,
			FutureDriver futures, TimeSource time) {
		return properties.enabled() ? new DefaultLlmResilience(providers, driver, futures, time)
				: new UnprotectedCalls(providers);
	}

	@Bean
	EngineLifecycle llmEngineLifecycle(CallEngine engine, Providers providers) {
		return new EngineLifecycle(engine, providers);
	}

}
