import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Content by path, relative to the root folder. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** A file of hack/generate exports this function. */
type GeneratorModule = { readonly generate: () => GeneratedFiles | Promise<GeneratedFiles> };

/** Runs every generator, in the order of their names. */
export async function loadGenerators(
  root: string,
): Promise<readonly { readonly name: string; readonly files: GeneratedFiles }[]> {
  const folder = join(root, 'hack/generate');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const results = [];
  for (const name of names.sort()) {
    const module = (await import(pathToFileURL(join(folder, name)).href)) as GeneratorModule;
    results.push({ name: `hack/generate/${name}`, files: await module.generate() });
  }
  return results;
}
