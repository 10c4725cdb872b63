/** Strictly parsed JSON; objects as ordered lists of members, so that no key is special. */
export type Value =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Value> }
  | { readonly kind: 'array'; readonly items: readonly Value[] }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'other' };

const deepest = 64;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class Fault extends Error {}

/**
 * A second implementation of RFC 8259 and `guardrail:errors:invalid-json-*`, independent of the runtime's: undefined
 * for every text that must be answered with invalid_json.
 */
export function readJson(bytes: Uint8Array): Value | undefined {
  try {
    const reader = { text: decoder.decode(bytes), at: 0 };
    const value = readValue(reader, 1);
    skipSpace(reader);
    return reader.at === reader.text.length ? value : undefined;
  } catch (error) {
    if (error instanceof Fault || error instanceof TypeError) return undefined;
    throw error;
  }
}

type Reader = { readonly text: string; at: number };

function skipSpace(reader: Reader): void {
  while (' \t\n\r'.includes(reader.text[reader.at] ?? 'x')) reader.at += 1;
}

function expect(reader: Reader, token: string): void {
  if (!reader.text.startsWith(token, reader.at)) throw new Fault();
  reader.at += token.length;
}

/** Whether the token follows at this position after white space; if so, the position is moved after it. */
function take(reader: Reader, token: string): boolean {
  skipSpace(reader);
  if (reader.text[reader.at] !== token) return false;
  reader.at += 1;
  return true;
}

function readValue(reader: Reader, depth: number): Value {
  skipSpace(reader);
  const first = reader.text[reader.at];
  if ((first === '{' || first === '[') && depth > deepest) throw new Fault();
  switch (first) {
    case '{':
      return readObject(reader, depth);
    case '[':
      return readArray(reader, depth);
    case '"':
      return { kind: 'string', text: readString(reader) };
    case 't':
      expect(reader, 'true');
      return { kind: 'other' };
    case 'f':
      expect(reader, 'false');
      return { kind: 'other' };
    case 'n':
      expect(reader, 'null');
      return { kind: 'other' };
    default:
      return readNumber(reader);
  }
}

function readObject(reader: Reader, depth: number): Value {
  reader.at += 1;
  const members = new Map<string, Value>();
  if (take(reader, '}')) return { kind: 'object', members };
  for (;;) {
    skipSpace(reader);
    if (reader.text[reader.at] !== '"') throw new Fault();
    const key = readString(reader);
    if (members.has(key) || !take(reader, ':')) throw new Fault();
    members.set(key, readValue(reader, depth + 1));
    if (take(reader, '}')) return { kind: 'object', members };
    if (!take(reader, ',')) throw new Fault();
  }
}

function readArray(reader: Reader, depth: number): Value {
  reader.at += 1;
  const items: Value[] = [];
  if (take(reader, ']')) return { kind: 'array', items };
  for (;;) {
    items.push(readValue(reader, depth + 1));
    if (take(reader, ']')) return { kind: 'array', items };
    if (!take(reader, ',')) throw new Fault();
  }
}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function readNumber(reader: Reader): Value {
  number.lastIndex = reader.at;
  const text = number.exec(reader.text)?.[0];
  if (text === undefined || !Number.isFinite(Number(text))) throw new Fault();
  reader.at += text.length;
  return { kind: 'other' };
}

const short: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function readString(reader: Reader): string {
  let text = '';
  for (let at = reader.at + 1; ; at += 1) {
    const character = reader.text[at];
    if (character === undefined || character < ' ') throw new Fault();
    if (character === '"') {
      if (!text.isWellFormed()) throw new Fault();
      reader.at = at + 1;
      return text;
    }
    if (character !== '\\') {
      text += character;
      continue;
    }
    at += 1;
    const letter = reader.text[at] ?? '';
    if (letter === 'u') {
      const hex = reader.text.slice(at + 1, at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw new Fault();
      text += String.fromCharCode(Number.parseInt(hex, 16));
      at += 4;
    } else if (Object.hasOwn(short, letter)) {
      text += short[letter];
    } else {
      throw new Fault();
    }
  }
}
