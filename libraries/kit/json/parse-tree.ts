import { isUtf8 } from 'node:buffer';
import { DEFAULT_MAX_DEPTH, JsonError, type JsonOptions, type JsonValue } from './json-value.ts';
import { isDigit, scanNumber, scanString, skipSpace } from './scan-token.ts';

/** Position of a node in the bytes: `start` of its first byte, `end` after its last. */
type Span = { readonly start: number; readonly end: number };

type JsonMember = {
  /** The key, unescaped. */
  readonly key: string;
  /** Position of the key, quotes included. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: JsonNode;
};

/** A JSON value with its position in the text, so that a part of the text can be replaced. */
export type JsonNode =
  | (Span & { readonly kind: 'object'; readonly members: readonly JsonMember[] })
  | (Span & { readonly kind: 'array'; readonly items: readonly JsonNode[] })
  | (Span & { readonly kind: 'string'; readonly value: string })
  | (Span & { readonly kind: 'number'; readonly value: number })
  | (Span & { readonly kind: 'boolean'; readonly value: boolean })
  | (Span & { readonly kind: 'null'; readonly value: null });

/** A JSON text with the number of its values, from which the memory of its tree can be computed. */
export type CountedTree = { readonly root: JsonNode; readonly values: number };

/** A cursor over the text; each read advances `at`. */
type Cursor = {
  readonly bytes: Buffer;
  readonly maxDepth: number;
  readonly keepHalves: boolean;
  /** How many more JSON values the parser may read. */
  valuesLeft: number;
  at: number;
};

const COMMA = 0x2c;
const COLON = 0x3a;
const QUOTE = 0x22;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;

const LITERALS = [
  { text: Buffer.from('true'), make: (span: Span): JsonNode => ({ kind: 'boolean', ...span, value: true }) },
  { text: Buffer.from('false'), make: (span: Span): JsonNode => ({ kind: 'boolean', ...span, value: false }) },
  { text: Buffer.from('null'), make: (span: Span): JsonNode => ({ kind: 'null', ...span, value: null }) },
] as const;

/**
 * Reads one JSON text (RFC 8259) strictly, keeping the byte span of every value and key.
 * @throws JsonError
 */
export function parseTree(bytes: Uint8Array, options: JsonOptions = {}): JsonNode {
  return parseCountedTree(bytes, options).root;
}

/**
 * Reads one JSON text strictly and also returns the number of its values.
 * @throws JsonError
 */
export function parseCountedTree(bytes: Uint8Array, options: JsonOptions = {}): CountedTree {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(buffer)) throw new JsonError('utf8', invalidUtf8Offset(buffer));
  const { maxDepth = DEFAULT_MAX_DEPTH, maxValues = Number.MAX_SAFE_INTEGER, unpairedSurrogates = 'refuse' } = options;
  const keepHalves = unpairedSurrogates === 'keep';
  const cursor = { bytes: buffer, maxDepth, keepHalves, valuesLeft: maxValues, at: skipSpace(buffer, 0) };
  const root = readValue(cursor, 0);
  cursor.at = skipSpace(buffer, cursor.at);
  if (cursor.at !== buffer.length) throw new JsonError('syntax', cursor.at);
  return { root, values: maxValues - cursor.valuesLeft };
}

function readValue(cursor: Cursor, depth: number): JsonNode {
  const start = cursor.at;
  cursor.valuesLeft -= 1;
  if (cursor.valuesLeft < 0) throw new JsonError('values', start);
  const byte = cursor.bytes[start];
  switch (byte) {
    case OBJECT_OPEN:
      return readObject(cursor, enter(cursor, depth));
    case ARRAY_OPEN:
      return readArray(cursor, enter(cursor, depth));
    case QUOTE: {
      const value = readString(cursor);
      return { kind: 'string', start, end: cursor.at, value };
    }
    default:
      return byte === 0x2d || isDigit(byte) ? readNumber(cursor) : readLiteral(cursor);
  }
}

function enter(cursor: Cursor, depth: number): number {
  if (depth >= cursor.maxDepth) throw new JsonError('depth', cursor.at);
  return depth + 1;
}

function readObject(cursor: Cursor, depth: number): JsonNode {
  const start = cursor.at;
  const members: JsonMember[] = [];
  const keys = new Set<string>();
  if (opensEmpty(cursor, OBJECT_CLOSE)) return { kind: 'object', start, end: cursor.at, members };
  do {
    const keyStart = skipTo(cursor);
    if (cursor.bytes[keyStart] !== QUOTE) throw new JsonError('syntax', keyStart);
    const key = readString(cursor);
    const keyEnd = cursor.at;
    if (keys.has(key)) throw new JsonError('duplicate_key', keyStart);
    keys.add(key);
    if (cursor.bytes[skipTo(cursor)] !== COLON) throw new JsonError('syntax', cursor.at);
    cursor.at++;
    skipTo(cursor);
    members.push({ key, keyStart, keyEnd, value: readValue(cursor, depth) });
  } while (continues(cursor, OBJECT_CLOSE));
  return { kind: 'object', start, end: cursor.at, members };
}

function readArray(cursor: Cursor, depth: number): JsonNode {
  const start = cursor.at;
  const items: JsonNode[] = [];
  if (opensEmpty(cursor, ARRAY_CLOSE)) return { kind: 'array', start, end: cursor.at, items };
  do {
    skipTo(cursor);
    items.push(readValue(cursor, depth));
  } while (continues(cursor, ARRAY_CLOSE));
  return { kind: 'array', start, end: cursor.at, items };
}

function skipTo(cursor: Cursor): number {
  cursor.at = skipSpace(cursor.bytes, cursor.at);
  return cursor.at;
}

function opensEmpty(cursor: Cursor, close: number): boolean {
  cursor.at++;
  if (cursor.bytes[skipTo(cursor)] !== close) return false;
  cursor.at++;
  return true;
}

function continues(cursor: Cursor, close: number): boolean {
  const byte = cursor.bytes[skipTo(cursor)];
  if (byte !== COMMA && byte !== close) throw new JsonError('syntax', cursor.at);
  cursor.at++;
  return byte === COMMA;
}

function readString(cursor: Cursor): string {
  const start = cursor.at;
  const { end, escaped } = scanString(cursor.bytes, start, cursor.keepHalves);
  cursor.at = end;
  if (!escaped) return cursor.bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(cursor.bytes.toString('utf8', start, end)) as string;
}

function readNumber(cursor: Cursor): JsonNode {
  const start = cursor.at;
  const end = scanNumber(cursor.bytes, start);
  const value = Number(cursor.bytes.toString('latin1', start, end));
  if (!Number.isFinite(value)) throw new JsonError('number', start);
  cursor.at = end;
  return { kind: 'number', start, end, value };
}

function readLiteral(cursor: Cursor): JsonNode {
  const start = cursor.at;
  let furthest = start;
  for (const { text, make } of LITERALS) {
    let length = 0;
    while (length < text.length && cursor.bytes[start + length] === text[length]) length++;
    furthest = Math.max(furthest, start + length);
    if (length < text.length) continue;
    cursor.at = start + length;
    return make({ start, end: cursor.at });
  }
  throw new JsonError('syntax', furthest);
}

/** The plain value of a node. */
export function nodeValue(node: JsonNode): JsonValue {
  if (node.kind === 'array') return node.items.map(nodeValue);
  if (node.kind !== 'object') return node.value;
  const object: { [key: string]: JsonValue } = {};
  for (const { key, value } of node.members) {
    Object.defineProperty(object, key, {
      value: nodeValue(value),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

/** The value of a member; undefined when it is absent or the node is not an object. */
export function member(node: JsonNode, key: string): JsonNode | undefined {
  return node.kind === 'object' ? node.members.find((one) => one.key === key)?.value : undefined;
}

/** First byte of a sequence, how many continuation bytes follow, and the range of the first of them (RFC 3629 §4). */
const SEQUENCES = [
  { first: 0xc2, last: 0xdf, tail: 1, low: 0x80, high: 0xbf },
  { first: 0xe0, last: 0xe0, tail: 2, low: 0xa0, high: 0xbf },
  { first: 0xe1, last: 0xec, tail: 2, low: 0x80, high: 0xbf },
  { first: 0xed, last: 0xed, tail: 2, low: 0x80, high: 0x9f },
  { first: 0xee, last: 0xef, tail: 2, low: 0x80, high: 0xbf },
  { first: 0xf0, last: 0xf0, tail: 3, low: 0x90, high: 0xbf },
  { first: 0xf1, last: 0xf3, tail: 3, low: 0x80, high: 0xbf },
  { first: 0xf4, last: 0xf4, tail: 3, low: 0x80, high: 0x8f },
] as const;

/** Offset of the first invalid UTF-8 sequence; the length if all bytes are valid. */
function invalidUtf8Offset(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const sequence = SEQUENCES.find((one) => first >= one.first && first <= one.last);
  if (sequence === undefined) return 0;
  for (let index = 1; index <= sequence.tail; index++) {
    const next = bytes[at + index] ?? 0;
    const low = index === 1 ? sequence.low : 0x80;
    const high = index === 1 ? sequence.high : 0xbf;
    if (next < low || next > high) return 0;
  }
  return sequence.tail + 1;
}
