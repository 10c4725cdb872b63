import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeAtomic } from './write-atomic.ts';

/**
 * Writes a random token to a file that only its owner may read. An existing file is kept, and a killed attempt leaves
 * no file. Only one process may create the file.
 * @param line makes the content of the file around the token; by default the file contains only the token
 * @throws FileWriteError
 */
export async function createSecret(path: string, line: (token: string) => string = (token) => token): Promise<void> {
  if (existsSync(path)) return;
  await writeAtomic(path, `${line(randomBytes(32).toString('base64url'))}\n`, { mode: 0o600 });
}
