import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { bearerToken } from '#kit/http/bearer';
import { type Clock, systemClock } from '#kit/time/clock';

/**
 * The client that a key identifies, without the key. `name` is absent if the file has none, or if every client may
 * call.
 */
type Client = { readonly name?: string };

/** Authenticates clients. */
export type ClientKeys = {
  /** The client of a request with a valid client key; undefined refuses the request. */
  admits(rawHeaders: readonly string[]): Client | undefined;
};

/** Admits every request without a client key; used only with PORTCULLIS_CLIENT_AUTH=open. */
export const openToAll: ClientKeys = { admits: () => ({}) };

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
/** Characters of a name that are kept. */
const maxNameLength = 64;

/**
 * Opens a file of client keys, one per line: the first word is the key, the rest a name for people. The file is checked
 * for changes on use, at most once a second; while it is missing or empty, every request is refused. Keys are compared by
 * their digests, so that timing reveals nothing about them.
 * @throws ClientKeysError when the file cannot be used at startup
 */
export function openClientKeys(path: string, clock: Clock = systemClock): ClientKeys {
  let stamp = stampOf(path);
  let lookedAt = clock.now();
  let clients = load(path);

  function current(): ReadonlyMap<string, Client> {
    if (clock.now() - lookedAt < lookEveryMs) return clients;
    lookedAt = clock.now();
    const found = stampOf(path);
    if (found === stamp) return clients;
    stamp = found;
    try {
      clients = load(path);
    } catch {
      clients = new Map();
    }
    return clients;
  }

  return {
    admits(rawHeaders) {
      const bearer = bearerToken(rawHeaders);
      return bearer.ok ? current().get(digestOf(bearer.token)) : undefined;
    },
  };
}

/** The clients by the digests of their keys. */
function load(path: string): ReadonlyMap<string, Client> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ClientKeysError('unreadable', path, cause);
  }
  const clients = new Map<string, Client>();
  for (const line of text.split('\n')) {
    const [key = '', ...words] = line.trim().split(/\s+/);
    const name = words.join(' ').slice(0, maxNameLength);
    if (key !== '') clients.set(digestOf(key), name === '' ? {} : { name });
  }
  if (clients.size === 0) throw new ClientKeysError('empty', path);
  return clients;
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
