package dev.llmresilience.docs.testing;

import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.Import;

/**
 * The application that the page on testing tests.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@ImportAutoConfiguration({ AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class })
@Import({ Summaries.class, AsyncSummaries.class })
class Application {

}
