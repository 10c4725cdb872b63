import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeAtomic } from './write-atomic.ts';

/**
 * Writes a random token to a file that only its owner may read. An existing file is kept, and a killed attempt leaves
 * none. Only one process may create the file.
 * @param line the content of the file around the token; the token alone when absent
 * @throws FileWriteError
 */
export async function createSecret(path: string, line: (token: string) => string = (token) => token): Promise<void> {
  if (existsSync(path)) return;
  await writeAtomic(path, `${line(randomBytes(32).toString('base64url'))}\n`, { mode: 0o600 });
}
