import { JsonError } from './json-value.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

/** Bytes that may follow a backslash, in addition to `u` (RFC 8259 §7). */
const SHORT_ESCAPES = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

type StringToken = { readonly end: number; readonly escaped: boolean };

/**
 * Reads the string whose opening quote is at `start`.
 * `keepHalves` accepts an escape of an unpaired surrogate.
 * @returns the offset after its closing quote, and whether it contains an escape
 * @throws JsonError syntax or surrogate
 */
export function scanString(bytes: Buffer, start: number, keepHalves = false): StringToken {
  let at = start + 1;
  let escaped = false;
  for (;;) {
    const byte = bytes[at];
    if (byte === undefined || byte < 0x20) throw new JsonError('syntax', at);
    if (byte === QUOTE) return { end: at + 1, escaped };
    if (byte === BACKSLASH) {
      escaped = true;
      at = scanEscape(bytes, at, keepHalves);
    } else {
      at++;
    }
  }
}

function scanEscape(bytes: Buffer, start: number, keepHalves: boolean): number {
  const kind = bytes[start + 1];
  if (kind !== undefined && SHORT_ESCAPES.has(kind)) return start + 2;
  if (kind !== 0x75) throw new JsonError('syntax', start + 1);
  const unit = codeUnit(bytes, start + 2);
  if (keepHalves || unit < 0xd800 || unit > 0xdfff) return start + 6;
  const followed = bytes[start + 6] === BACKSLASH && bytes[start + 7] === 0x75;
  if (unit >= 0xdc00 || !followed) throw new JsonError('surrogate', start);
  const low = codeUnit(bytes, start + 8);
  if (low < 0xdc00 || low > 0xdfff) throw new JsonError('surrogate', start);
  return start + 12;
}

function codeUnit(bytes: Buffer, start: number): number {
  let unit = 0;
  for (let at = start; at < start + 4; at++) {
    const digit = hexDigit(bytes[at]);
    if (digit === undefined) throw new JsonError('syntax', at);
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= ZERO && byte <= 0x39) return byte - ZERO;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}

/**
 * Reads the number that begins at `start`.
 * @returns the offset after its last byte
 * @throws JsonError syntax
 */
export function scanNumber(bytes: Buffer, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start;
  at = bytes[at] === ZERO ? at + 1 : scanDigits(bytes, at);
  if (bytes[at] === POINT) at = scanDigits(bytes, at + 1);
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at;
  const sign = bytes[at + 1];
  return scanDigits(bytes, sign === 0x2b || sign === MINUS ? at + 2 : at + 1);
}

function scanDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at++;
  if (at === start) throw new JsonError('syntax', at);
  return at;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}

/** Offset of the first byte from `start` that is not white space (RFC 8259 §2). */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at++;
  }
}
