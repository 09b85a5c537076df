package dev.llmresilience.architecture;

import java.time.Clock;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import dev.llmresilience.LlmRetry;
import org.jspecify.annotations.NullMarked;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * The house and its rules: which package may know which, and what nobody may do.
 */
@AnalyzeClasses(packages = "dev.llmresilience", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String ROOT = "dev.llmresilience";

	/** From the roof down. Packages of one floor do not know each other. */
	static final List<List<String>> FLOORS = List.of(List.of("autoconfigure"), List.of("actuate", "metrics", "web"),
			List.of("aop"), List.of("http", "tools"), List.of("redis"), List.of("engine"),
			List.of("breaker", "limiter", "budget"), List.of("policy"), List.of("failure", "tokens"), List.of(""),
			List.of("time"));

	@ArchTest
	static final ArchRule arrowsPointDown = floors();

	@ArchTest
	static final ArchRule packagesFormNoCycles = slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule virtualTimeKnowsTheSeamOnly = noClasses().that()
		.resideInAPackage(ROOT + ".test..")
		.should()
		.dependOnClassesThat(inOurPackagesOtherThan("test", "time"));

	@ArchTest
	static final ArchRule nobodyShipsOnVirtualTime = noClasses().that()
		.resideOutsideOfPackage(ROOT + ".test..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(ROOT + ".test..");

	@ArchTest
	static final ArchRule everyPackageHasAFloor = classes().should(resideOnAFloor());

	@ArchTest
	static final ArchRule timeAndChanceComeThroughTheSeam = noClasses().that()
		.resideOutsideOfPackages(ROOT + ".time..", ROOT + ".test..")
		.should()
		.callMethod(System.class, "nanoTime")
		.orShould()
		.callMethod(System.class, "currentTimeMillis")
		.orShould()
		.callMethod(Instant.class, "now")
		.orShould()
		.callMethod(LocalDateTime.class, "now")
		.orShould()
		.callMethod(OffsetDateTime.class, "now")
		.orShould()
		.callMethod(ZonedDateTime.class, "now")
		.orShould()
		.callMethod(Math.class, "random")
		.orShould()
		.callMethod(Thread.class, "sleep", long.class)
		.orShould()
		.callMethod(Thread.class, "sleep", long.class, int.class)
		.orShould()
		.dependOnClassesThat()
		.belongToAnyOf(ThreadLocalRandom.class, Random.class, Clock.class);

	@ArchTest
	static final ArchRule noMethodIsSynchronized = noMethods().should().haveModifier(JavaModifier.SYNCHRONIZED);

	@ArchTest
	static final ArchRule nobodyWaitsOnAMonitor = noClasses().should()
		.callMethod(Object.class, "wait")
		.orShould()
		.callMethod(Object.class, "wait", long.class)
		.orShould()
		.callMethod(Object.class, "notifyAll");

	@ArchTest
	static final ArchRule springWebIsNamedInItsAdaptersOnly = namedOnlyIn("org.springframework.web..",
			"(failure.(SpringWebReader|WebClientReader)|http.(RestClientHook|WebClientHook)|web.ProblemDetailsAdvice|"
					+ "autoconfigure.(HttpHooksAutoConfiguration|RetryLayersAutoConfiguration|RequestFactoryClients|ProblemDetailsAutoConfiguration))");

	@ArchTest
	static final ArchRule springHttpIsNamedInItsAdaptersOnly = namedOnlyIn("org.springframework.http..",
			"(failure.(SpringWebReader|WebClientReader)|http.(RestClientHook|WebClientHook)|web.ProblemDetailsAdvice|"
					+ "autoconfigure.(RequestFactoryClients|BootHttpClients))");

	@ArchTest
	static final ArchRule bootsClientsAreNamedInOneClassOnly = namedOnlyIn(
			"org.springframework.boot.(restclient|webclient)..", "autoconfigure.HttpHooksAutoConfiguration");

	@ArchTest
	static final ArchRule whatMakesBootsClientsIsNamedInItsAdapterOnly = namedOnlyIn("org.springframework.boot.http..",
			"autoconfigure.(RetryLayersAutoConfiguration|BootHttpClients)");

	@ArchTest
	static final ArchRule reactorIsNamedInItsAdaptersOnly = namedOnlyIn("reactor..",
			"(ReactiveLlmResilience|failure.(ReactorNettyReader|WebClientReader)|http.WebClientHook|aop.ReactiveShape"
					+ "|engine.(ReactiveDriver|DefaultReactiveLlmResilience|MonoCall|FluxCall|Demand)"
					+ "|autoconfigure.(ReactiveConfiguration|UnprotectedReactiveCalls))");

	@ArchTest
	static final ArchRule contextPropagationIsNamedInItsAdaptersOnly = namedOnlyIn("io.micrometer.context..",
			"(engine.(MicrometerContextCarrier|LlmCallAccessor)|autoconfigure.ContextConfiguration)");

	@ArchTest
	static final ArchRule okHttpIsNamedInItsAdaptersOnly = namedOnlyIn("okhttp3..",
			"(failure.RetrofitReader|http.OkHttpHook|autoconfigure.(HttpHooksAutoConfiguration|RetryLayersAutoConfiguration|OkHttpLayers))");

	@ArchTest
	static final ArchRule nettyIsNamedInItsReaderOnly = namedOnlyIn("io.netty..",
			"failure.(NettyReader|ReactorNettyReader)");

	@ArchTest
	static final ArchRule anthropicIsNamedInItsAdaptersOnly = namedOnlyIn("com.anthropic..",
			"(failure.(AnthropicReader|AnthropicResults)|http.AnthropicHook|tokens.AnthropicUsage|"
					+ "autoconfigure.(HttpHooksAutoConfiguration|RetryLayersAutoConfiguration|AnthropicLayers|SpringAiAnthropicLayers))");

	@ArchTest
	static final ArchRule openAiIsNamedInItsAdaptersOnly = namedOnlyIn("com.openai..",
			"(failure.(OpenAiReader|OpenAiResults)|http.OpenAiHook|tokens.OpenAiUsage|"
					+ "autoconfigure.(HttpHooksAutoConfiguration|RetryLayersAutoConfiguration|OpenAiLayers))");

	@ArchTest
	static final ArchRule springAiIsNamedInItsAdaptersOnly = namedOnlyIn("org.springframework.ai..",
			"(failure.(SpringAiReader|SpringAiResults)|tokens.SpringAiUsage|tools.SpringAiTools|autoconfigure."
					+ "((HttpHooks|Tools|RetryLayers)AutoConfiguration|SpringAi(Anthropic|OpenAi)?Layers))");

	@ArchTest
	static final ArchRule langChain4jIsNamedInItsAdaptersOnly = namedOnlyIn("dev.langchain4j..",
			"(failure.(LangChain4jReader|LangChain4jResults)|tokens.LangChain4jUsage|tools.LangChain4jTools)");

	@ArchTest
	static final ArchRule googleGenAiIsNamedInItsReadersOnly = namedOnlyIn("com.google.genai..",
			"failure.(GoogleGenAiReader|GoogleInteractionsReader)");

	@ArchTest
	static final ArchRule awsIsNamedInItsReaderOnly = namedOnlyIn("software.amazon..", "failure.(AwsReader)");

	@ArchTest
	static final ArchRule azureIsNamedInItsReaderOnly = namedOnlyIn("com.azure..", "failure.(AzureReader)");

	@ArchTest
	static final ArchRule feignIsNamedInItsReaderOnly = namedOnlyIn("feign..", "failure.(FeignReader)");

	@ArchTest
	static final ArchRule retrofitIsNamedInItsReaderOnly = namedOnlyIn("retrofit2..", "failure.(RetrofitReader)");

	@ArchTest
	static final ArchRule httpComponentsAreNamedInTheirAdaptersOnly = namedOnlyIn("org.apache.hc..",
			"(failure.(HttpComponentsReader)|autoconfigure.(RetryLayersAutoConfiguration|HttpComponentsLayers|"
					+ "HttpComponentsRetries|RequestFactoryClients|BootHttpClients))");

	@ArchTest
	static final ArchRule transactionsAreNamedInOneClassOnly = namedOnlyIn("org.springframework.transaction..",
			"aop.OpenTransactions");

	@ArchTest
	static final ArchRule springCloudIsNamedInItsAdapterOnly = namedOnlyIn("org.springframework.cloud..",
			"autoconfigure.PropertyChangesAutoConfiguration");

	@ArchTest
	static final ArchRule actuatorIsNamedByTheEndpointsOnly = noClasses().that()
		.resideOutsideOfPackage(ROOT + ".actuate..")
		.and()
		.haveNameNotMatching(ROOT.replace(".", "\\.") + "\\.autoconfigure\\.Llm.*(Endpoint|Health)AutoConfiguration")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot.actuate..", "org.springframework.boot.health..");

	@ArchTest
	static final ArchRule aspectjIsNamedInTheAspectOnly = namedOnlyIn("org.aspectj..", "aop.LlmRetryWeaving");

	@ArchTest
	static final ArchRule belowTheAdviceNobodyKnowsSpringsContainer = noClasses().that()
		.resideInAnyPackage(ROOT, ROOT + ".engine..", ROOT + ".breaker..", ROOT + ".limiter..", ROOT + ".budget..",
				ROOT + ".policy..", ROOT + ".failure..", ROOT + ".tokens..", ROOT + ".time..", ROOT + ".test..")
		.and(DescribedPredicate.not(DescribedPredicate.describe("are the annotation", LlmRetryIs::theAnnotation)))
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..", "org.springframework.context..",
				"org.springframework.beans..", "org.springframework.aop..");

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = classes().that()
		.haveSimpleName("package-info")
		.should()
		.beAnnotatedWith(NullMarked.class);

	@ArchTest
	static final ArchRule everyPackageSaysWhatItHolds = classes().should(haveAPackageInfo());

	@ArchTest
	static final ArchRule autoConfigurationsArePublicAndFinal = classes().that()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.bePublic()
		.andShould()
		.haveModifier(JavaModifier.FINAL)
		.andShould()
		.haveSimpleNameEndingWith("AutoConfiguration")
		.andShould()
		.resideInAPackage(ROOT + ".autoconfigure..")
		.andShould(haveNoPublicMembers());

	@ArchTest
	static final ArchRule beanMethodsAreNotForTheOutside = methods().that()
		.areAnnotatedWith(Bean.class)
		.should()
		.notBePublic()
		.andShould()
		.notBePrivate();

	private static LayeredArchitecture floors() {
		LayeredArchitecture house = layeredArchitecture().consideringOnlyDependenciesInLayers();
		for (String name : FLOORS.stream().flatMap(List::stream).toList()) {
			house = house.optionalLayer(layer(name)).definedBy(name.isEmpty() ? ROOT : ROOT + "." + name + "..");
		}
		for (int i = 0; i < FLOORS.size(); i++) {
			String[] above = FLOORS.subList(0, i)
				.stream()
				.flatMap(List::stream)
				.map(ArchitectureTests::layer)
				.toArray(String[]::new);
			for (String name : FLOORS.get(i)) {
				house = (above.length > 0) ? house.whereLayer(layer(name)).mayOnlyBeAccessedByLayers(above)
						: house.whereLayer(layer(name)).mayNotBeAccessedByAnyLayer();
			}
		}
		return house;
	}

	private static String layer(String name) {
		return name.isEmpty() ? "root" : name;
	}

	private static ArchRule namedOnlyIn(String library, String adapters) {
		return noClasses().that()
			.haveNameNotMatching((ROOT + "." + adapters).replace(".", "\\.") + "(\\$.*)?")
			.should()
			.dependOnClassesThat()
			.resideInAPackage(library);
	}

	private static DescribedPredicate<JavaClass> inOurPackagesOtherThan(String... names) {
		List<String> allowed = Stream.of(names).map((name) -> ROOT + "." + name).toList();
		return DescribedPredicate.describe("are ours but not of " + allowed,
				(type) -> type.getPackageName().startsWith(ROOT) && !allowed.contains(type.getPackageName()));
	}

	private static ArchCondition<JavaClass> resideOnAFloor() {
		List<String> packages = Stream.concat(Stream.of("test"), FLOORS.stream().flatMap(List::stream))
			.map((name) -> name.isEmpty() ? ROOT : ROOT + "." + name)
			.toList();
		return new ArchCondition<>("reside on a floor of the house") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				if (!packages.contains(type.getPackageName())) {
					events.add(SimpleConditionEvent.violated(type, type.getName() + " is in a package of no floor"));
				}
			}

		};
	}

	private static ArchCondition<JavaClass> haveAPackageInfo() {
		return new ArchCondition<>("be in a package with a package-info") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				if (!type.getPackage().isAnnotatedWith(NullMarked.class)) {
					events.add(SimpleConditionEvent.violated(type, type.getPackageName() + " is not @NullMarked"));
				}
			}

		};
	}

	private static ArchCondition<JavaClass> haveNoPublicMembers() {
		return new ArchCondition<>("have no public members") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				for (JavaCodeUnit unit : type.getCodeUnits()) {
					if (unit.getModifiers().contains(JavaModifier.PUBLIC) && !(unit instanceof JavaMethod method
							&& method.getModifiers().contains(JavaModifier.BRIDGE))) {
						events.add(SimpleConditionEvent.violated(unit, unit.getFullName() + " is public"));
					}
				}
			}

		};
	}

	/** The annotation names Spring's, which is all the engine's side of it needs. */
	private static final class LlmRetryIs {

		static boolean theAnnotation(JavaClass type) {
			return type.isEquivalentTo(LlmRetry.class);
		}

	}

}
