import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The folder of this user for what can be worked out again, by the XDG Base Directory specification. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: named = '' } = env;
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'portcullis');
}
