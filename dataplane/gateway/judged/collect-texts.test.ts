import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonValue, nodeValue, parseTree } from '#kit/json/parse-strict';
import { maskEdits, rewriteBody } from '../chat/rewrite-body.ts';
import { collectNested, collectTexts, withoutRepetitions } from './collect-texts.ts';

const role = 'user';

function textsOf(json: string, numbers = true): readonly string[] {
  const bytes = Buffer.from(json);
  return collectTexts(parseTree(bytes), bytes, { role, numbers }).map(({ content }) => content);
}

function nestedOf(value: string) {
  const bytes = Buffer.from(JSON.stringify(value));
  const node = parseTree(bytes);
  if (node.kind !== 'string') throw new Error('not a string');
  return { bytes, units: collectNested(node, { role, numbers: true }) };
}

test('strings, keys that an author chose and numbers are judged as texts; words of the API, booleans and null are not', () => {
  const json = '{"type":"object","secret key":{"description":"d","n":[1.50,-2e3,true,null,""]}}';
  expect(textsOf(json)).toEqual(['object', 'secret key', 'd', 'n', '1.50', '-2e3']);
  expect(textsOf(json, false)).toEqual(['object', 'secret key', 'd', 'n']);
});

test('a number is judged as written, with all of its digits', () => {
  expect(nestedOf('{"card":4111111111111111.10}').units.map(({ content }) => content)).toEqual([
    'card',
    '4111111111111111.10',
  ]);
});

test('names and numbers that occur several times are judged once, and each string at each of its places', () => {
  const bytes = Buffer.from('[{"k":"a"},{"k":"a"},7,7]');
  const units = collectTexts(parseTree(bytes), bytes, { role, numbers: true });
  expect(withoutRepetitions(units).map(({ content }) => content)).toEqual(['k', 'a', 'a', '7']);
});

test.each([
  ['{"q":"\\u0062omb"}', ['q', 'bomb']],
  ['"\\u0062omb"', ['bomb']],
  ['{"q":"\\u0062omb",}', ['{"q":"\\u0062omb",}', '{"q":"bomb",}']],
  ['{"q":1,"q":"\\u0062omb"}', ['{"q":1,"q":"\\u0062omb"}', '{"q":1,"q":"bomb"}']],
  ['a\\tb\\x\\ud83d', ['a\\tb\\x\\ud83d', 'a\tbx\ufffd']],
  ['plain', ['plain']],
  ['', []],
])('a string that contains %j is judged as %j', (value, expected) => {
  expect(nestedOf(value).units.map(({ content }) => content)).toEqual(expected);
});

test('JSON in strings of JSON is read down to the third level, and a mask below the first level is applied to its text first', () => {
  let value = '{"q":"\\u0062omb"}';
  for (const isRead of [true, true, true, false]) {
    const { units } = nestedOf(value);
    expect(units.some(({ content }) => content === 'bomb')).toBe(isRead);
    value = JSON.stringify({ q: value });
  }
  expect(nestedOf(JSON.stringify({ q: '[ -f a ] && printf "\\u0062"' })).units).toHaveLength(2);
  const { units } = nestedOf(JSON.stringify({ q: '{"q":"\\u0062omb"}' }));
  expect(
    maskEdits(
      units,
      units.map(({ content }) => content.replace('bomb', '***')),
    ),
  ).toEqual({ kind: 'unmaskable' });
});

test('masking strings inside any JSON text changes only these strings, and keeps it JSON', () => {
  const upper = (text: string) => text.toUpperCase();
  const mapped = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return upper(value);
    if (Array.isArray(value)) return value.map(mapped);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one)]));
  };
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, depthSize: 'small' }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('"__proto__"') && text.isWellFormed());
      const { bytes, units } = nestedOf(text);
      const contents = units.map(({ content, place }) => (place.kind === 'fixed' ? content : upper(content)));
      const masked = maskEdits(units, contents);
      if (masked.kind !== 'edits') throw new Error(masked.kind);
      const outer = nodeValue(parseTree(rewriteBody(bytes, masked.edits)));
      expect(JSON.parse(outer as string)).toEqual(mapped(JSON.parse(text) as JsonValue));
    }),
  );
});

test('a mask of a name or a number cannot be applied, and neither can a mask of an empty text', () => {
  const { units } = nestedOf('{"name of it":1}');
  expect(maskEdits(units, ['***', '1'])).toEqual({ kind: 'unmaskable' });
  expect(maskEdits(units, ['name of it', '***'])).toEqual({ kind: 'unmaskable' });
  expect(maskEdits(units, ['name of it', '1'])).toEqual({ kind: 'edits', edits: [] });
  expect(maskEdits(units, ['name of it'])).toEqual({ kind: 'mismatch' });
});
