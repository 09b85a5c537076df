package dev.llmresilience.autoconfigure;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.stream.Stream;

/**
 * Loads the whole class path anew, except for some packages, which it does not have.
 */
public final class HidingClassLoader extends URLClassLoader {

	private final List<String> hidden;

	/**
	 * Creates a class loader.
	 * @param hidden the packages that it does not have
	 */
	public HidingClassLoader(String... hidden) {
		super(classPath(), ClassLoader.getPlatformClassLoader());
		this.hidden = List.of(hidden);
	}

	private static URL[] classPath() {
		return Stream
			.of(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
				.split(File.pathSeparator))
			.map(HidingClassLoader::url)
			.toArray(URL[]::new);
	}

	private static URL url(String path) {
		try {
			return new File(path).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		for (String prefix : this.hidden) {
			if (name.startsWith(prefix + ".")) {
				throw new ClassNotFoundException(name);
			}
		}
		return super.loadClass(name, resolve);
	}

}
