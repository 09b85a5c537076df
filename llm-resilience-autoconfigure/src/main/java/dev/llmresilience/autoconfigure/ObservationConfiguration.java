package dev.llmresilience.autoconfigure;

import dev.llmresilience.engine.CallTrace;
import dev.llmresilience.metrics.CallObservations;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Observations, where something traces: a handler of such observations that does more
 * than to make meters of them, which there are without. Libraries bring handlers for
 * their own observations, Spring AI for one; these do not count.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ ObservationRegistry.class, MeterObservationHandler.class })
class ObservationConfiguration {

	@Bean
	@ConditionalOnMissingBean(CallTrace.Tracer.class)
	CallTrace.Tracer llmCallTracer(ObjectProvider<ObservationRegistry> registry,
			ObjectProvider<ObservationHandler<?>> handlers) {
		Observation.Context call = new Observation.Context();
		call.setName(CallObservations.NAME);
		boolean traces = handlers.stream()
			.anyMatch((handler) -> !(handler instanceof MeterObservationHandler) && handler.supportsContext(call));
		ObservationRegistry observations = traces ? registry.getIfAvailable() : null;
		return (observations != null) ? new CallObservations(observations) : CallTrace.Tracer.NONE;
	}

}
