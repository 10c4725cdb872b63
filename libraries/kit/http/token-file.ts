import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFileStamp } from '../files/file-stamp.ts';
import { type Clock, systemClock } from '../time/clock.ts';

type TokenFileFault = 'unreadable' | 'empty' | 'too_many_lines';

/** A token file cannot be used. The message names the file, never its content. */
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
  empty: 'contains no token',
  too_many_lines: 'contains more than two tokens',
} as const satisfies Record<TokenFileFault, string>;

export type TokenFile = {
  /** Whether the candidate is one of the current tokens, compared in constant time. */
  accepts(candidate: string): boolean;
  /**
   * The first token, which a client sends.
   * @throws TokenFileError when the file contains no token now
   */
  first(): string;
};

/** Least time between two checks of the file, milliseconds. */
const CHECK_EVERY_MS = 1000;

type Token = { readonly text: string; readonly bytes: Buffer };
type Content = { readonly stamp: string; readonly tokens: readonly Token[]; readonly error?: TokenFileError };

/**
 * Opens a file of one or two service tokens, one per line: the first word of a line is the token, empty lines are ignored.
 * The file is checked on use, at most once a second, so that rotation needs no restart. While it is missing, empty or
 * has too many tokens, no candidate is accepted.
 * @throws TokenFileError when the file cannot be used at the start
 */
export function openTokenFile(path: string, clock: Clock = systemClock): TokenFile {
  let content = load(path);
  let checkedAt = clock.now();
  if (content.error !== undefined) throw content.error;

  function current(): Content {
    if (clock.now() - checkedAt < CHECK_EVERY_MS) return content;
    checkedAt = clock.now();
    if (readFileStamp(path) !== content.stamp || content.error !== undefined) content = load(path);
    return content;
  }

  return {
    accepts(candidate) {
      const sent = Buffer.from(candidate);
      let found = false;
      for (const { bytes } of current().tokens) {
        const comparable = sent.length === bytes.length;
        // A candidate of a different length also takes one comparison, so that timing does not reveal the length.
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
  const stamp = readFileStamp(path);
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
