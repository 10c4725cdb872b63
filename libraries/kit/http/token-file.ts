import { timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type Clock, systemClock } from '../time/clock.ts';

export type TokenFileFault = 'unreadable' | 'empty' | 'too_many_lines';

/** A token file cannot be used. The message names the file, never what it holds. */
export class TokenFileError extends Error {
  readonly code: TokenFileFault;

  constructor(code: TokenFileFault, path: string, cause?: unknown) {
    super(`token file ${path}: ${SENTENCES[code]}`, { cause });
    this.name = 'TokenFileError';
    this.code = code;
  }
}

const SENTENCES = {
  unreadable: 'cannot be read',
  empty: 'holds no token',
  too_many_lines: 'holds more than two tokens',
} as const satisfies Record<TokenFileFault, string>;

export type TokenFile = {
  /** Whether the candidate is one of the tokens that the file holds now. How long it takes says nothing of them. */
  accepts(candidate: string): boolean;
  /**
   * The first token, for a client to send.
   * @throws TokenFileError where the file holds none now
   */
  first(): string;
};

/** How long a look at the file is good for, in milliseconds. */
const LOOK_EVERY_MS = 1000;

type Token = { readonly text: string; readonly bytes: Buffer };
type Content = { readonly stamp: string; readonly tokens: readonly Token[]; readonly error?: TokenFileError };

/**
 * Opens a file of one or two service tokens, one per line: the first word of a line is the token, empty lines do not
 * count. The file is looked at again on use, at most once a second, so that a rotation needs no restart; one that
 * vanished, is empty or holds too many tokens accepts nothing.
 * @throws TokenFileError where the file cannot be used at the start
 */
export function openTokenFile(path: string, clock: Clock = systemClock): TokenFile {
  let content = load(path);
  let lookedAt = clock.now();
  if (content.error !== undefined) throw content.error;

  function current(): Content {
    if (clock.now() - lookedAt < LOOK_EVERY_MS) return content;
    lookedAt = clock.now();
    if (stampOf(path) !== content.stamp || content.error !== undefined) content = load(path);
    return content;
  }

  return {
    accepts(candidate) {
      const sent = Buffer.from(candidate);
      let found = false;
      for (const { bytes } of current().tokens) {
        const comparable = sent.length === bytes.length;
        // A candidate of another length costs a comparison too.
        if (timingSafeEqual(comparable ? sent : bytes, bytes) && comparable) found = true;
      }
      return found;
    },
    first() {
      const { tokens, error } = current();
      const [token] = tokens;
      if (token === undefined) throw error ?? new TokenFileError('empty', path);
      return token.text;
    },
  };
}

function load(path: string): Content {
  const stamp = stampOf(path);
  try {
    const tokens = tokensOf(readFileSync(path, 'utf8'));
    if (tokens.length === 0) return { stamp, tokens: [], error: new TokenFileError('empty', path) };
    if (tokens.length > 2) return { stamp, tokens: [], error: new TokenFileError('too_many_lines', path) };
    return { stamp, tokens };
  } catch (cause) {
    return { stamp, tokens: [], error: new TokenFileError('unreadable', path, cause) };
  }
}

function tokensOf(text: string): Token[] {
  return text.split('\n').flatMap((line) => {
    const [word] = line.trim().split(/\s+/);
    return word === undefined || word === '' ? [] : [{ text: word, bytes: Buffer.from(word) }];
  });
}

/** Changes whenever the file is written or replaced; a mounted secret changes its inode. */
function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return 'absent';
  }
}
