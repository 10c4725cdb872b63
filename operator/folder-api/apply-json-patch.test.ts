import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patchOperations, statusOperations } from '#kube/apply/apply';
import type { Resource, Stored } from '#resources/metadata';
import { applyJsonPatch } from './apply-json-patch.ts';

/** Examples of RFC 6902, appendix A, and edge cases of RFC 6901. */
const examples: readonly [string, unknown, readonly unknown[], unknown][] = [
  ['adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
  [
    'adds an element',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  ['appends', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['x'] }], { foo: ['bar', ['x']] }],
  [
    'adds an item at the end by index',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/1', value: 1 }],
    { foo: ['bar', 1] },
  ],
  ['adds over a member', { foo: 1 }, [{ op: 'add', path: '/foo', value: 2 }], { foo: 2 }],
  ['removes a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  ['removes an element', { foo: ['a', 'b', 'c'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['a', 'c'] }],
  ['replaces', { baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
  ['replaces an element', { foo: [1, 2] }, [{ op: 'replace', path: '/foo/0', value: 3 }], { foo: [3, 2] }],
  ['replaces everything', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  [
    'tests',
    { baz: 'qux', foo: ['a', 2, 'c'] },
    [{ op: 'test', path: '/foo/1', value: 2 }],
    { baz: 'qux', foo: ['a', 2, 'c'] },
  ],
  [
    'compares members in any order in a test',
    { a: { x: 1, y: 2 } },
    [{ op: 'test', path: '/a', value: { y: 2, x: 1 } }],
    { a: { x: 1, y: 2 } },
  ],
  ['adds null', { a: 1 }, [{ op: 'add', path: '/b', value: null }], { a: 1, b: null }],
  [
    'reads escapes',
    { '/': 9, '~1': 10 },
    [
      { op: 'test', path: '/~01', value: 10 },
      { op: 'remove', path: '/~1' },
    ],
    { '~1': 10 },
  ],
  ['accepts an empty member name', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
  [
    'applies its operations in order',
    {},
    [
      { op: 'add', path: '/a', value: {} },
      { op: 'add', path: '/a/b', value: 1 },
    ],
    { a: { b: 1 } },
  ],
];

test.each(examples)('a JSON Patch %s', (_name, document, patch, wanted) => {
  const before = structuredClone(document);
  expect(applyJsonPatch(document, patch)).toEqual(wanted);
  expect(document).toEqual(before);
});

describe('a JSON Patch that does not apply is refused with an error that repeats no value', () => {
  test.each([
    ['a path without a parent', { a: 1 }, [{ op: 'add', path: '/b/c', value: 1 }]],
    ['a parent that is neither an object nor a list', { a: 'text' }, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['nothing to remove', {}, [{ op: 'remove', path: '/a' }]],
    ['nothing to replace', {}, [{ op: 'replace', path: '/a', value: 1 }]],
    ['an index beyond the end', { a: [1] }, [{ op: 'add', path: '/a/2', value: 1 }]],
    ['an index with a leading zero', { a: [1, 2] }, [{ op: 'remove', path: '/a/01' }]],
    ['a path that needs an index and has another word', { a: [1] }, [{ op: 'replace', path: '/a/x', value: 1 }]],
    ['a test of the position after the last item', { a: [1] }, [{ op: 'test', path: '/a/-', value: 1 }]],
    ['an inherited member', {}, [{ op: 'test', path: '/toString', value: 'secret' }]],
    ['another value', { a: '10' }, [{ op: 'test', path: '/a', value: 10 }]],
  ])('a JSON Patch with %s is refused', (_name, document, patch) => {
    expect(() => applyJsonPatch(document, patch)).toThrow(expect.objectContaining({ reason: 'Invalid', details: {} }));
  });
});

test.each([
  ['no list', {}],
  ['move', [{ op: 'move', from: '/a', path: '/b' }]],
  ['a path without a slash', [{ op: 'remove', path: 'a' }]],
  ['a bad escape', [{ op: 'remove', path: '/~2' }]],
])('a body that is not a JSON Patch is refused with BadRequest: %s', (_name, patch) => {
  expect(() => applyJsonPatch({ a: 1 }, patch)).toThrow(expect.objectContaining({ reason: 'BadRequest' }));
});

test('a JSON Patch of ten thousand operations is accepted and a longer one refused', () => {
  const operations = (count: number) => Array.from({ length: count }, () => ({ op: 'test', path: '/a', value: 1 }));
  expect(applyJsonPatch({ a: 1 }, operations(10_000))).toEqual({ a: 1 });
  expect(() => applyJsonPatch({ a: 1 }, operations(10_001))).toThrow(
    expect.objectContaining({ reason: 'RequestEntityTooLarge' }),
  );
});

test('a JSON Patch sets a member named __proto__ like any other', () => {
  const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { evil: true } }]) as object;
  expect(Object.keys(patched)).toEqual(['__proto__']);
  expect('evil' in patched).toBe(false);
});

const texts = fc.dictionary(fc.constantFrom('a', 'b/c', 'd~e', 'portcullis.dev/id'), fc.string());
const stored = fc.record({
  spec: fc.dictionary(fc.string(), fc.jsonValue()),
  labels: fc.option(texts, { nil: undefined }),
  annotations: fc.option(texts, { nil: undefined }),
  finalizers: fc.option(fc.uniqueArray(fc.string(), { minLength: 1 }), { nil: undefined }),
  status: fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }),
});

function objectOf(parts: Record<string, unknown>): Stored<Resource> {
  const { spec, status, ...metadata } = parts;
  const server = { name: 'x', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 't' };
  const object = { apiVersion: 'v', kind: 'K', metadata: { ...server, ...metadata }, spec, status };
  return JSON.parse(JSON.stringify(object));
}

test('the JSON Patch between any two objects yields the second, and is empty for equal objects', () => {
  fc.assert(
    fc.property(stored, stored, (from, to) => {
      const current = objectOf(from);
      const wanted = objectOf(to);
      const desired = {
        spec: wanted.spec,
        labels: merged(current.metadata.labels, wanted.metadata.labels),
        annotations: merged(current.metadata.annotations, wanted.metadata.annotations),
        finalizers: wanted.metadata.finalizers ?? [],
      };
      const operations = [...patchOperations(current, desired), ...statusOperations(current, wanted.status ?? {})];
      const patched = applyJsonPatch(current, operations) as Stored<Resource>;
      expect(patched.spec).toEqual(wanted.spec);
      expect(patched.status ?? {}).toEqual(wanted.status ?? {});
      expect(patched.metadata.labels ?? {}).toEqual(wanted.metadata.labels ?? {});
      expect(patched.metadata.annotations ?? {}).toEqual(wanted.metadata.annotations ?? {});
      expect(patched.metadata.finalizers ?? []).toEqual(wanted.metadata.finalizers ?? []);
      expect(patchOperations(patched, desired)).toEqual([]);
      expect(statusOperations(patched, patched.status)).toEqual([]);
    }),
  );
});

/** The desired entries, and null for each entry to remove. */
function merged(current: Record<string, string> = {}, wanted: Record<string, string> = {}) {
  return { ...Object.fromEntries(Object.keys(current).map((key) => [key, null])), ...wanted };
}
