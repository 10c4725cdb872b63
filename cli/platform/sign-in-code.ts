import { readFileSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';

/** The code of the next sign-in to the console; undefined if it cannot be read. */
export function readSignInCode(data: DataDirectory): string | undefined {
  try {
    return readFileSync(data.signInCode, 'utf8').trim();
  } catch {
    return undefined;
  }
}
