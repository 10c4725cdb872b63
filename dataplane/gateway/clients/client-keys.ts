import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFileStamp } from '#kit/files/file-stamp';
import { bearerToken } from '#kit/http/bearer';
import { type Clock, systemClock } from '#kit/time/clock';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { type KeyRules, readKeyLine } from './read-key-line.ts';

/** The client that a key identifies, without the key. */
type Client = Pick<KeyRules, 'name' | 'aliases' | 'dailyTokens'> & {
  /** Tells clients apart: keys of one name belong to one client. Absent if every client may call. */
  readonly caller?: string;
  /** Absent if the key has no rate, or if every client may call. */
  readonly limit?: RateLimit;
};

/** Authenticates clients. */
export type ClientKeys = {
  /** The client of a request with a valid client key; undefined refuses the request. */
  admits(rawHeaders: readonly string[]): Client | undefined;
};

/** Admits every request without a client key; used only with PORTCULLIS_CLIENT_AUTH=open. */
export const openToAll: ClientKeys = { admits: () => ({}) };

/** The file of client keys is unusable at startup. The message names the file and lines, never their content. */
class ClientKeysError extends Error {
  readonly code: 'unreadable' | 'empty' | 'invalid';

  constructor(code: ClientKeysError['code'], path: string, problem: string, cause?: unknown) {
    super(`file of client keys ${path}: ${problem}`, { cause });
    this.name = 'ClientKeysError';
    this.code = code;
  }
}

type Problem = { readonly line: number; readonly problem: string };

type ClientKeysOptions = {
  readonly clock?: Clock;
  /** Receives each problem of a file that changed while it was in use. The key of the line is not accepted. */
  readonly onProblem?: (problem: Problem) => void;
};

const lookEveryMs = 1_000;

/**
 * Opens a file of client keys, one per line (`readKeyLine`). The file is checked for changes on use, at most once a
 * second, so that keys are rotated without a restart; while it is missing or empty, every request is refused. Keys are
 * compared by their digests, so that timing reveals nothing about them. A key whose rate does not change keeps its used
 * rate when the file changes, even if the file was missing meanwhile. A file that cannot be read is read again at the
 * next check.
 * @throws ClientKeysError when the file cannot be used at startup
 */
export function openClientKeys(path: string, { clock = systemClock, onProblem }: ClientKeysOptions = {}): ClientKeys {
  let stamp: string | undefined = readFileStamp(path);
  let lookedAt = clock.now();
  const first = load(path, new Map());
  const [problem] = first.problems;
  if (problem !== undefined) throw new ClientKeysError('invalid', path, `line ${problem.line}: ${problem.problem}`);
  let { clients } = first;
  let readLast = clients;

  function current(): Clients {
    if (clock.now() - lookedAt < lookEveryMs) return clients;
    lookedAt = clock.now();
    const found = readFileStamp(path);
    if (found === stamp) return clients;
    stamp = found;
    try {
      const next = load(path, readLast);
      clients = next.clients;
      readLast = clients;
      for (const one of next.problems) onProblem?.(one);
    } catch {
      clients = new Map();
      stamp = undefined;
    }
    return clients;
  }

  return {
    admits(rawHeaders) {
      const bearer = bearerToken(rawHeaders);
      return bearer.ok ? current().get(digestOf(bearer.token))?.client : undefined;
    },
  };
}

/** Clients by the digests of their keys. */
type Clients = ReadonlyMap<string, { readonly client: Client; readonly rate: string }>;

function load(path: string, before: Clients): { readonly clients: Clients; readonly problems: readonly Problem[] } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ClientKeysError('unreadable', path, 'cannot be read', cause);
  }
  const clients = new Map<string, { readonly client: Client; readonly rate: string }>();
  const problems: Problem[] = [];
  const repeated = new Set<string>();
  for (const [index, line] of text.split('\n').entries()) {
    const read = readKeyLine(line);
    if (read.kind === 'problem') problems.push({ line: index + 1, problem: read.problem });
    if (read.kind !== 'key') continue;
    const { rate, ...rules } = read.rules;
    const digest = digestOf(read.key);
    if (clients.has(digest)) {
      problems.push({ line: index + 1, problem: 'the key is given twice, so that its rules are not clear' });
      repeated.add(digest);
    }
    const written = rate === undefined ? '' : `${rate.requests}/${rate.ms}`;
    const known = before.get(digest);
    const kept = known?.rate === written ? known.client.limit : undefined;
    const limit = rate === undefined ? {} : { limit: kept ?? createRateLimit(rate) };
    const caller = rules.name === undefined ? `key ${digest}` : `client ${rules.name}`;
    clients.set(digest, { client: { ...rules, caller, ...limit }, rate: written });
  }
  for (const digest of repeated) clients.delete(digest);
  if (clients.size === 0 && problems.length === 0) throw new ClientKeysError('empty', path, 'holds no key');
  return { clients, problems };
}

function digestOf(key: string): string {
  return hash('sha256', key);
}
