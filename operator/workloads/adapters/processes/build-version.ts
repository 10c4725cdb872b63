import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Sources of the runtime, relative to the root of the checkout. */
const sourceFolders = ['runtime', 'libraries/kit', 'libraries/contracts'];
const packageFiles = ['package.json', 'package-lock.json'];

/**
 * The build of the runtime of a checkout: the package version and a digest of all sources of the runtime without tests.
 * A changed source is a new build, so that its workloads are created again.
 */
export async function buildVersion(root: string): Promise<string> {
  const hash = createHash('sha256');
  const files = [
    ...packageFiles,
    ...(await Promise.all(sourceFolders.map((folder) => sourcesOf(root, folder)))).flat(),
  ];
  for (const file of files.toSorted())
    hash
      .update(`${file}\0`)
      .update(await readFile(join(root, file)))
      .update('\0');
  const description = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as unknown;
  const { version } = z.looseObject({ version: z.string() }).parse(description);
  return `${version}+${hash.digest('hex').slice(0, 12)}`;
}

async function sourcesOf(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|json)$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !/\/(testing|testdata)\//.test(path));
}
