import type { Bundle } from '#contracts/bundle';
import { refusedBundle } from './bundle-error.ts';
import { compileBundle } from './compile-bundle.ts';
import type { AskOf } from './compile-section.ts';
import type { LoadedBundle } from './loaded-bundle.ts';
import { parseBundle } from './parse-bundle.ts';
import { readBundleFile } from './read-bundle-file.ts';

/**
 * Reads, compiles and admits the bundle of this process. `connect` is called once, with a bundle of the right shape.
 * @throws BundleError with the reason
 */
export async function loadBundle(path: string, connect: (bundle: Bundle) => AskOf): Promise<LoadedBundle> {
  const reading = parseBundle(await readBundleFile(path));
  if (!reading.ok) throw refusedBundle(reading.problems);
  const compilation = compileBundle(reading, connect(reading.bundle));
  if (!compilation.ok) throw refusedBundle(compilation.problems);
  return compilation.loaded;
}
