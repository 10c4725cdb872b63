import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The cache folder of the user, as the XDG Base Directory specification defines it. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: named = '' } = env;
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'portcullis');
}
