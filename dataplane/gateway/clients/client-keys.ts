import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { bearerToken } from '#kit/http/bearer';
import { type Clock, systemClock } from '#kit/time/clock';

/** Authenticates clients. */
export type ClientKeys = {
  /** Whether the request has a valid client key. */
  admits(rawHeaders: readonly string[]): boolean;
};

/** Admits every request without a client key; used only with PORTCULLIS_CLIENT_AUTH=open. */
export const openToAll: ClientKeys = { admits: () => true };

/** The file of client keys is unusable at startup. The message names the file, never its content. */
class ClientKeysError extends Error {
  readonly code: 'unreadable' | 'empty';

  constructor(code: 'unreadable' | 'empty', path: string, cause?: unknown) {
    super(`file of client keys ${path}: ${code === 'empty' ? 'holds no key' : 'cannot be read'}`, { cause });
    this.name = 'ClientKeysError';
    this.code = code;
  }
}

const lookEveryMs = 1_000;

/**
 * Opens a file of client keys, one per line: the first word is the key, the rest a name for people. The file is checked
 * for changes on use, at most once a second; while it is missing or empty, every request is refused. Keys are compared by
 * their digests, so that timing reveals nothing about them.
 * @throws ClientKeysError when the file cannot be used at startup
 */
export function openClientKeys(path: string, clock: Clock = systemClock): ClientKeys {
  let stamp = stampOf(path);
  let lookedAt = clock.now();
  let digests = load(path);

  function current(): ReadonlySet<string> {
    if (clock.now() - lookedAt < lookEveryMs) return digests;
    lookedAt = clock.now();
    const found = stampOf(path);
    if (found === stamp) return digests;
    stamp = found;
    try {
      digests = load(path);
    } catch {
      digests = new Set();
    }
    return digests;
  }

  return {
    admits(rawHeaders) {
      const bearer = bearerToken(rawHeaders);
      return bearer.ok && current().has(digestOf(bearer.token));
    },
  };
}

function load(path: string): ReadonlySet<string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ClientKeysError('unreadable', path, cause);
  }
  const keys = text.split('\n').flatMap((line) =>
    line
      .trim()
      .split(/\s+/, 1)
      .filter((word) => word !== ''),
  );
  if (keys.length === 0) throw new ClientKeysError('empty', path);
  return new Set(keys.map(digestOf));
}

function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return 'absent';
  }
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
