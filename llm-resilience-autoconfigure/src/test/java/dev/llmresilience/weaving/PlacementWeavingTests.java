package dev.llmresilience.weaving;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.function.Supplier;

import dev.llmresilience.LlmRetry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

import static dev.llmresilience.weaving.Attempts.PROTECTED;
import static dev.llmresilience.weaving.Attempts.UNPROTECTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Where an annotation may stand so that a woven method is protected. Each row is an
 * object that no proxy is around, and that calls a method of its own.
 */
@Tag("weaving")
class PlacementWeavingTests {

	static final List<Row> seen = List.of(row("X on a public method", OnPublic::new, PROTECTED),
			row("X on a package-private method", OnPackagePrivate::new, PROTECTED),
			row("X on a private method", OnPrivate::new, PROTECTED),
			row("X on a final method", OnFinal::new, PROTECTED), row("X on a static method", OnStatic::new, PROTECTED),
			row("X on a method that a lambda calls", InLambda::new, PROTECTED),
			row("X on a method behind a bridge", BehindBridge::new, PROTECTED),
			row("X on a default method", OfDefaultApi::new, PROTECTED),
			row("X on a superclass's method, inherited", InheritsMethod::new, PROTECTED),
			row("X on a superclass's method, called by the one that overrides it", CallsSuper::new, PROTECTED),
			row("X on a method and on the one that it overrides and calls", OnBoth::new, 3),
			row("X on a class", OnClass::new, PROTECTED),
			row("X on a superclass, method declared there", InheritsClass::new, PROTECTED),
			row("X on a superclass, method overridden", OverridesOfClass::new, PROTECTED),
			row("X on an interface type", OfTypeApi::new, PROTECTED),
			row("X on an interface type above the interface", OfSubApi::new, PROTECTED),
			row("X on a method and on its class", OnMethodAndClass::new, 3),
			row("@C on a method", ComposedMethod::new, 5), row("@C on a class", ComposedClass::new, 5),
			row("@CC on a method, two levels deep", TwiceComposedMethod::new, 5),
			row("@CC on a class, two levels deep", TwiceComposedClass::new, 5));

	static final List<Row> unseen = List.of(
			row("@CCC on a method, three levels deep", ThriceComposedMethod::new, UNPROTECTED),
			row("@CCC on a class, three levels deep", ThriceComposedClass::new, UNPROTECTED),
			row("X on an interface method", OfMethodApi::new, UNPROTECTED),
			row("X on a superclass's method, overridden", Overrides::new, UNPROTECTED),
			row("X on a class, method inherited from a plain superclass", OnSubclass::new, UNPROTECTED),
			row("X on a superclass, method declared below", BelowClass::new, UNPROTECTED),
			row("X on an interface type, method declared below", BelowMarker::new, UNPROTECTED),
			row("X on a class, private method", PrivateOfClass::new, UNPROTECTED),
			row("X on a class, static method", StaticOfClass::new, UNPROTECTED),
			row("no annotation at all", Plain::new, UNPROTECTED));

	@ParameterizedTest(name = "{0}")
	@FieldSource("seen")
	void itsCallsAreProtectedOnce(Row row) {
		Caller caller = row.caller().get();
		Attempts.runner().run((context) -> {
			assertThatException().isThrownBy(caller::call);
			assertThat(caller.attempts.count()).isEqualTo(row.attempts());
			assertThat(Attempts.advised(context)).isEqualTo(row.attempts());
		});
	}

	@ParameterizedTest(name = "{0}")
	@FieldSource("unseen")
	void itsCallsAreNot(Row row) {
		Caller caller = row.caller().get();
		Attempts.runner().run((context) -> {
			assertThatException().isThrownBy(caller::call);
			assertThat(caller.attempts.count()).isEqualTo(row.attempts());
			assertThat(Attempts.advised(context)).isZero();
		});
	}

	private static Row row(String name, Supplier<Caller> caller, int attempts) {
		return new Row(name, caller, attempts);
	}

	record Row(String name, Supplier<Caller> caller, int attempts) {

		@Override
		public String toString() {
			return this.name;
		}

	}

	abstract static class Caller {

		final Attempts attempts = new Attempts();

		void call() {
			ask();
		}

		public abstract void ask();

	}

	@LlmRetry(maxAttempts = 5)
	@Retention(RetentionPolicy.RUNTIME)
	@Target({ ElementType.METHOD, ElementType.TYPE })
	@interface C {

	}

	@C
	@Retention(RetentionPolicy.RUNTIME)
	@Target({ ElementType.METHOD, ElementType.TYPE })
	@interface CC {

	}

	@CC
	@Retention(RetentionPolicy.RUNTIME)
	@Target({ ElementType.METHOD, ElementType.TYPE })
	@interface CCC {

	}

	// On a method

	static class OnPublic extends Caller {

		@Override
		@LlmRetry
		public void ask() {
			this.attempts.fail();
		}

	}

	static class OnPackagePrivate extends Caller {

		@Override
		public void ask() {
			hidden();
		}

		@LlmRetry
		void hidden() {
			this.attempts.fail();
		}

	}

	static class OnPrivate extends Caller {

		@Override
		public void ask() {
			hidden();
		}

		@LlmRetry
		private void hidden() {
			this.attempts.fail();
		}

	}

	static class OnFinal extends Caller {

		@Override
		@LlmRetry
		public final void ask() {
			this.attempts.fail();
		}

	}

	static class OnStatic extends Caller {

		@Override
		public void ask() {
			hidden(this.attempts);
		}

		@LlmRetry
		static void hidden(Attempts attempts) {
			attempts.fail();
		}

	}

	static class InLambda extends OnPublic {

		@Override
		void call() {
			Runnable later = () -> ask();
			later.run();
		}

	}

	interface GenericApi<T> {

		void ask(T question);

	}

	static class BehindBridge extends Caller implements GenericApi<String> {

		@Override
		public void ask() {
			GenericApi<String> self = this;
			self.ask("why");
		}

		@Override
		@LlmRetry
		public void ask(String question) {
			this.attempts.fail();
		}

	}

	interface DefaultApi {

		void body();

		@LlmRetry
		default void hidden() {
			body();
		}

	}

	static class OfDefaultApi extends Caller implements DefaultApi {

		@Override
		public void ask() {
			hidden();
		}

		@Override
		public void body() {
			this.attempts.fail();
		}

	}

	static class InheritsMethod extends OnPublic {

	}

	static class CallsSuper extends OnPublic {

		@Override
		public void ask() {
			super.ask();
		}

	}

	static class OnBoth extends OnPublic {

		@Override
		@LlmRetry(maxAttempts = 3)
		public void ask() {
			super.ask();
		}

	}

	static class ComposedMethod extends Caller {

		@Override
		@C
		public void ask() {
			this.attempts.fail();
		}

	}

	static class TwiceComposedMethod extends Caller {

		@Override
		@CC
		public void ask() {
			this.attempts.fail();
		}

	}

	static class ThriceComposedMethod extends Caller {

		@Override
		@CCC
		public void ask() {
			this.attempts.fail();
		}

	}

	interface MethodApi {

		@LlmRetry
		void ask();

	}

	static class OfMethodApi extends Caller implements MethodApi {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	static class Overrides extends OnPublic {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	// On a type

	@LlmRetry
	static class OnClass extends Caller {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	static class InheritsClass extends OnClass {

	}

	static class OverridesOfClass extends OnClass {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	static class BelowClass extends Caller {

		@Override
		public void ask() {
			new OfHelper().below(this.attempts);
		}

	}

	static class OfHelper extends OnHelper {

		void below(Attempts attempts) {
			attempts.fail();
		}

	}

	@LlmRetry
	interface TypeApi {

		void ask();

	}

	static class OfTypeApi extends Caller implements TypeApi {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	static class BelowMarker extends Caller {

		@Override
		public void ask() {
			new OfMarker().below(this.attempts);
		}

	}

	@LlmRetry
	interface Marker {

	}

	static class OfMarker implements Marker {

		void below(Attempts attempts) {
			attempts.fail();
		}

	}

	interface SubApi extends TypeApi {

	}

	static class OfSubApi extends Caller implements SubApi {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	@LlmRetry
	static class OnMethodAndClass extends Caller {

		@Override
		@LlmRetry(maxAttempts = 3)
		public void ask() {
			this.attempts.fail();
		}

	}

	@C
	static class ComposedClass extends Caller {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	@CC
	static class TwiceComposedClass extends Caller {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	@CCC
	static class ThriceComposedClass extends Caller {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

	@LlmRetry
	static class OnSubclass extends Plain {

	}

	static class PrivateOfClass extends Caller {

		@Override
		public void ask() {
			new OnHelper().hidden(this.attempts);
		}

	}

	static class StaticOfClass extends Caller {

		@Override
		public void ask() {
			OnHelper.hiddenToo(this.attempts);
		}

	}

	@LlmRetry
	static class OnHelper {

		private void hidden(Attempts attempts) {
			attempts.fail();
		}

		static void hiddenToo(Attempts attempts) {
			attempts.fail();
		}

	}

	static class Plain extends Caller {

		@Override
		public void ask() {
			this.attempts.fail();
		}

	}

}
