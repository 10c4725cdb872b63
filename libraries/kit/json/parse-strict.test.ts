import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonError, type JsonValue, nodeValue, parseStrict, parseTree } from './parse-strict.ts';
import { MALFORMED } from './testing/malformed.ts';

const bytesOf = (text: string | readonly number[]): Buffer =>
  typeof text === 'string' ? Buffer.from(text) : Buffer.from(text);

const readers = [
  ['parseStrict', parseStrict],
  ['parseTree', (...args: Parameters<typeof parseTree>) => nodeValue(parseTree(...args))],
] as const;

function errorOf(read: () => unknown): JsonError {
  try {
    read();
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('the text was not refused');
}

/** A JSON text of a value, with random white space and escapes. */
function textOf(value: JsonValue, dice: () => number): string {
  const gap = () => ['', '', ' ', '\n', '\t\r '][dice() % 5];
  if (typeof value === 'string') return quoted(value, dice);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${gap()}${value.map((item) => textOf(item, dice)).join(`${gap()},${gap()}`)}]`;
  const members = Object.keys(value).map(
    (key) => `${quoted(key, dice)}${gap()}:${gap()}${textOf(value[key] as JsonValue, dice)}`,
  );
  return `{${gap()}${members.join(`${gap()},`)}${gap()}}`;
}

function quoted(text: string, dice: () => number): string {
  const units = [...Array(text.length).keys()].map((index) => text.charCodeAt(index));
  if (dice() % 3 > 0) return JSON.stringify(text);
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

const values = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }).map((value) => value as JsonValue);
const dice = fc.infiniteStream(fc.nat(1000)).map((stream) => () => stream.next().value as number);

describe.each(readers)('%s', (_name, read) => {
  test.each(MALFORMED)('a JSON text with %s is refused', (_what, text, fault, offset) => {
    const error = errorOf(() => read(bytesOf(text)));
    expect([error.fault, error.offset]).toEqual([fault, offset]);
    expect(error.code).toBe('invalid_json');
  });

  test('every valid JSON text has the value of JSON.parse', () => {
    fc.assert(
      fc.property(values, dice, (value, throwDice) => {
        const text = textOf(value, throwDice);
        expect(read(Buffer.from(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test('a damaged JSON text is refused if JSON.parse refuses it, and otherwise has the same value or is refused', () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.constantFrom(...Buffer.from('{}[]",:\\u0e-.1tn \u0001')) });
    fc.assert(
      fc.property(values, dice, damage, (value, throwDice, { at, byte }) => {
        const bytes = Buffer.from(textOf(value, throwDice));
        bytes[at % bytes.length] = byte;
        let accepted: JsonValue;
        try {
          accepted = read(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError);
          return;
        }
        expect(accepted).toEqual(JSON.parse(bytes.toString()));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['0', 0],
    ['-0', -0],
    ['-0.0e-5', -0],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['5e-324', Number.MIN_VALUE],
    ['1e-999', 0],
    ['9007199254740993', 9007199254740992],
    ['1E+2', 100],
    [' \t\r\n"a" \t\r\n', 'a'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff"', '"\\/\b\f\n\r\t\u00ff'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\u007f\u2028"', '\u007f\u2028'],
    ['"\ufeff"', '\ufeff'],
    ['{"":[]}', { '': [] }],
  ])('the JSON text %s is parsed', (text, value) => {
    expect(read(Buffer.from(text))).toEqual(value);
  });

  test('a JSON key __proto__ becomes an ordinary own property', () => {
    const value = read(Buffer.from('{"__proto__":{"admin":true},"constructor":1}')) as { [key: string]: JsonValue };
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value['admin']).toBeUndefined();
  });

  test('a JSON text of 64 levels is accepted, or of as many levels as maxDepth', () => {
    const levels = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(() => read(levels(64))).not.toThrow();
    expect(() => read(levels(3), { maxDepth: 3 })).not.toThrow();
    expect(errorOf(() => read(levels(4), { maxDepth: 3 })).fault).toBe('depth');
    expect(() => read(levels(512), { maxDepth: 512 })).not.toThrow();
    expect(read(Buffer.from('1'), { maxDepth: 0 })).toBe(1);
    expect(errorOf(() => read(levels(1), { maxDepth: 0 })).fault).toBe('depth');
  });

  test.each([
    ['[1,[],{},{"a":[2]}]', 7],
    ['[[],[]]', 3],
    ['" , [ "', 1],
    ['{"a":",,,,","b":null}', 3],
  ])('the JSON text %s is accepted with its number of values as the limit, and refused below', (text, values) => {
    expect(() => read(Buffer.from(text), { maxValues: values })).not.toThrow();
    expect(() => read(Buffer.from(text), { maxValues: values - 1 })).toThrow(
      expect.objectContaining({ fault: 'values' }),
    );
  });

  test('an unpaired surrogate in a JSON text is accepted only with the option keep', () => {
    const half = Buffer.from('{"\\ud83d":"\\ude00a"}');
    expect(read(half, { unpairedSurrogates: 'keep' })).toEqual({ '\ud83d': '\ude00a' });
    expect(errorOf(() => read(half, { unpairedSurrogates: 'refuse' })).fault).toBe('surrogate');
    const twice = Buffer.from('{"\\ud83d":1,"\\uD83D":2}');
    expect(errorOf(() => read(twice, { unpairedSurrogates: 'keep' })).fault).toBe('duplicate_key');
  });

  test.each([46, 47, 48, 49, 50, 1000])('a JSON string of %d bytes with escapes around it is parsed', (length) => {
    const plain = 'a'.repeat(length);
    for (const text of [plain, `${plain}\\"`, `${plain}\\\\`, `\\"${plain}`, `${plain}\\"${plain}`, `${plain}я\\n`]) {
      expect(read(Buffer.from(`{"k":"${text}","l":["${text}"]}`))).toEqual(
        JSON.parse(`{"k":"${text}","l":["${text}"]}`),
      );
    }
  });

  test('JSON is parsed from a view into a larger buffer', () => {
    expect(read(Buffer.from('xx{"a":1}xx').subarray(2, 9))).toEqual({ a: 1 });
    expect(read(new Uint8Array(Buffer.from('xx[1]xx')).subarray(2, 5))).toEqual([1]);
  });
});

test('the table of malformed JSON texts has many rows with unique labels', () => {
  expect(MALFORMED.length).toBeGreaterThanOrEqual(120);
  expect(new Set(MALFORMED.map(([what]) => what)).size).toBe(MALFORMED.length);
});

test('a JSON error has the offset and no part of the text', () => {
  expect(errorOf(() => parseStrict(Buffer.from('{"secret": hunter2}'))).message).toBe(
    'invalid JSON: syntax at byte 11',
  );
});
