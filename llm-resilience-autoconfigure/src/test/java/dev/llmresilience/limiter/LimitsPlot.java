package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Draws how a limiter follows a provider whose rate falls and rises: the plot of the page
 * on limits. The same code gives the same drawing, to the last character.
 */
final class LimitsPlot {

	private static final int SECONDS = 90;

	private static final int SAMPLES_PER_SECOND = 4;

	private static final int TOP_RATE = 30;

	private static final int LEFT = 44;

	private static final int RIGHT = 784;

	private static final int TOP = 66;

	private static final int BOTTOM = 286;

	/** The lowest marks of rejections. */
	private static final int MARKS = 332;

	private final double[] pace = new double[SECONDS * SAMPLES_PER_SECOND + 1];

	private final int[] rejections = new int[this.pace.length];

	private final int[] accepted = new int[SECONDS];

	private final List<String> parts = new ArrayList<>();

	private LimitsPlot() {
		World world = new World(2000, 10, 10);
		world.rateFrom(20, 4);
		world.rateFrom(50, 20);
		RateLimiter limiter = world.limiter(0);
		world.feed(limiter, SECONDS * 30, 30);
		for (int i = 0; i < this.pace.length; i++) {
			int sample = i;
			world.at((double) i / SAMPLES_PER_SECOND, () -> {
				Double perMinute = limiter.requestsPerMinute();
				this.pace[sample] = (perMinute != null) ? perMinute / 60 : Double.NaN;
				this.rejections[sample] = world.rejections;
			});
		}
		world.run(SECONDS);
		world.accepted.stream().filter((at) -> at < SECONDS).forEach((at) -> this.accepted[at.intValue()]++);
	}

	/**
	 * Runs the simulation and draws it.
	 * @return the SVG document
	 */
	static String draw() {
		LimitsPlot plot = new LimitsPlot();
		plot.axes();
		plot.curves();
		plot.marks();
		plot.words();
		return """
				<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 376" width="800" height="376" role="img">
				<title>A limiter that learns, at a provider that changes its rate</title>
				<style>
				text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f }
				.end { text-anchor: end } .mid { text-anchor: middle }
				path, line { fill: none }
				.paper { fill: #fff } .grid { stroke: #d8dee4 }
				.truth { stroke: #b6bec8; stroke-width: 5 }
				.pace { stroke: #0a58ca; stroke-width: 1.8; stroke-linejoin: round }
				.served { stroke: #1a7f37; stroke-width: 1.3 }
				.refused { stroke: #cf222e; stroke-width: 4; stroke-linecap: round }
				@media (prefers-color-scheme: dark) {
				text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #2b323b } .truth { stroke: #59636f }
				.pace { stroke: #6cb0ff } .served { stroke: #4cc764 } .refused { stroke: #ff7b72 }
				}
				</style>
				<rect class="paper" width="800" height="376"/>
				""" + String.join("\n", plot.parts) + "\n</svg>\n";
	}

	private void axes() {
		for (int rate = 0; rate <= TOP_RATE; rate += 5) {
			line("grid", LEFT, y(rate), RIGHT, y(rate));
			text("end", LEFT - 6, y(rate) + 4.5, "" + rate);
		}
		for (int second = 0; second <= SECONDS; second += 10) {
			line("grid", x(second), TOP, x(second), MARKS + 8);
			text("mid", x(second), MARKS + 24, "" + second);
		}
		text("mid", (LEFT + RIGHT) / 2.0, MARKS + 39, "seconds");
	}

	private void curves() {
		path("truth", List.of(point(0, 10), point(20, 10), point(20, 4), point(50, 4), point(50, 20), point(90, 20)));
		path("served", IntStream.range(0, SECONDS)
			.boxed()
			.flatMap((second) -> List.of(point(second, this.accepted[second]), point(second + 1, this.accepted[second]))
				.stream())
			.toList());
		path("pace",
				IntStream.range(0, this.pace.length)
					.filter((sample) -> !Double.isNaN(this.pace[sample]))
					.mapToObj((sample) -> point((double) sample / SAMPLES_PER_SECOND, this.pace[sample]))
					.toList());
	}

	/** The rejections of half a second stand on each other. */
	private void marks() {
		IntToDoubleFunction until = (half) -> this.rejections[Math.min(this.rejections.length - 1, half * 2)];
		StringBuilder data = new StringBuilder();
		for (int half = 0; half < SECONDS * 2; half++) {
			int count = (int) (until.applyAsDouble(half + 1) - until.applyAsDouble(half));
			for (int i = 0; i < count; i++) {
				data.append(String.format(Locale.ROOT, "M%.1f %.1fh0", x(half / 2.0 + 0.25), MARKS - i * 5.0));
			}
		}
		this.parts.add("<path class=\"refused\" d=\"" + data + "\"/>");
	}

	private void words() {
		int total = this.rejections[this.rejections.length - 1];
		int served = IntStream.of(this.accepted).sum();
		text("", LEFT, 18, "Calls a second, 30 wanted. Nothing configured, no headers: " + served + " served, " + total
				+ " rejected.");
		legend("truth", LEFT, "the provider's rate");
		legend("pace", 236, "the limiter's pace");
		legend("served", 418, "served in each second");
		legend("refused", 620, "a 429");
	}

	private void legend(String style, double x, String words) {
		if (style.equals("refused")) {
			this.parts.add(String.format(Locale.ROOT, "<path class=\"refused\" d=\"M%.1f 40h0\"/>", x + 4));
			text("", x + 12, 44.5, words);
			return;
		}
		line(style, x, 40, x + 22, 40);
		text("", x + 28, 44.5, words);
	}

	private void path(String style, List<String> points) {
		this.parts
			.add("<path class=\"" + style + "\" d=\"M" + points.stream().collect(Collectors.joining("L")) + "\"/>");
	}

	private void line(String style, double x1, double y1, double x2, double y2) {
		this.parts.add(String.format(Locale.ROOT,
				"<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", style, x1, y1, x2, y2));
	}

	private void text(String style, double x, double y, String words) {
		String attribute = style.isEmpty() ? "" : " class=\"" + style + "\"";
		this.parts.add(String.format(Locale.ROOT, "<text%s x=\"%.1f\" y=\"%.1f\">%s</text>", attribute, x, y, words));
	}

	private static String point(double second, double rate) {
		return String.format(Locale.ROOT, "%.1f %.1f", x(second), y(Math.min(rate, TOP_RATE)));
	}

	private static double x(double second) {
		return LEFT + (RIGHT - LEFT) * second / SECONDS;
	}

	private static double y(double rate) {
		return BOTTOM - (BOTTOM - TOP) * rate / TOP_RATE;
	}

}
