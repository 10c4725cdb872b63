import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonNode, member, nodeValue, parseStrict, parseTree } from './parse-strict.ts';

function* walk(node: JsonNode): Generator<JsonNode> {
  yield node;
  if (node.kind === 'array') for (const item of node.items) yield* walk(item);
  if (node.kind === 'object') for (const { value } of node.members) yield* walk(value);
}

const texts = fc
  .tuple(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(0, 1, 2, '\t'))
  .map(([value, space]) => Buffer.from(JSON.stringify(value, null, space)));

test('the bytes at the position of a JSON node parse to its value', () => {
  fc.assert(
    fc.property(texts, (bytes) => {
      for (const node of walk(parseTree(bytes))) {
        expect(parseStrict(bytes.subarray(node.start, node.end))).toEqual(nodeValue(node));
      }
    }),
  );
});

test('the bytes at the position of a JSON key parse to the key', () => {
  fc.assert(
    fc.property(texts, (bytes) => {
      for (const node of walk(parseTree(bytes))) {
        if (node.kind !== 'object') continue;
        for (const { key, keyStart, keyEnd } of node.members) {
          expect(parseStrict(bytes.subarray(keyStart, keyEnd))).toBe(key);
        }
      }
    }),
  );
});

test('positions of JSON nodes count bytes and exclude white space', () => {
  expect(parseTree(Buffer.from(' { "я" : [ true , null ] } '))).toEqual({
    kind: 'object',
    start: 1,
    end: 27,
    members: [
      {
        key: 'я',
        keyStart: 3,
        keyEnd: 7,
        value: {
          kind: 'array',
          start: 10,
          end: 25,
          items: [
            { kind: 'boolean', start: 12, end: 16, value: true },
            { kind: 'null', start: 19, end: 23, value: null },
          ],
        },
      },
    ],
  });
});

test('member returns the value of a key of an object, otherwise undefined', () => {
  const tree = parseTree(Buffer.from('{"a":1,"__proto__":2}'));
  expect(member(tree, 'a')).toEqual({ kind: 'number', start: 5, end: 6, value: 1 });
  expect(member(tree, '__proto__')).toMatchObject({ value: 2 });
  expect(member(tree, 'toString')).toBeUndefined();
  expect(member(parseTree(Buffer.from('["a"]')), 'a')).toBeUndefined();
});
