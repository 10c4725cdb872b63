import { describe, expect, test } from 'vitest';
import { fulfils } from '#search/condition';
import { attributeLimits, chunkAttributes as attributesOf, validAt } from './chunk-attributes.ts';
import { partitionName, readPartitionName } from './partition-name.ts';

const chunkAttributes = (docId: string, metadata: Readonly<Record<string, unknown>>) =>
  attributesOf({ docId, metadata, validFrom: null, validUntil: null });

describe('attributes of a chunk', () => {
  test('a document is valid from its first instant to the one before its end, and always if it has no bounds', () => {
    const validity = (validFrom: number | null, validUntil: number | null, now: number) =>
      fulfils(attributesOf({ docId: 'd', metadata: {}, validFrom, validUntil }), validAt(now));
    expect([validity(1_000, null, 999), validity(1_000, null, 1_000)]).toEqual([false, true]);
    expect([validity(null, 2_000, 1_999), validity(null, 2_000, 2_000)]).toEqual([true, false]);
    expect([999, 1_000, 1_999, 2_000].map((now) => validity(1_000, 2_000, now))).toEqual([false, true, true, false]);
    expect(validity(null, null, 0)).toBe(true);
  });

  test('metadata is compared by its paths, lists by their scalar values, and other values not at all', () => {
    const metadata = { source: 'wiki', labels: ['a', 1, null, {}], nested: { deep: true, none: null } };
    expect(chunkAttributes('d', metadata)).toEqual({
      doc_id: 'd',
      'metadata.source': 'wiki',
      'metadata.labels': ['a', 1],
      'metadata.nested.deep': true,
    });
  });

  test('values, lists, depth and attributes of a chunk are stored up to their limits', () => {
    const nested = (depth: number): Record<string, unknown> => (depth === 0 ? { end: 1 } : { a: nested(depth - 1) });
    const { attributes, depth, valueLength, values } = attributeLimits;
    const pathOf = (levels: number) => `metadata.${'a.'.repeat(levels)}end`;
    expect(chunkAttributes('d', nested(depth - 1))[pathOf(depth - 1)]).toBe(1);
    expect(chunkAttributes('d', nested(depth))[pathOf(depth)]).toBeUndefined();
    expect(chunkAttributes('d', { a: 'x'.repeat(valueLength) })['metadata.a']).toHaveLength(valueLength);
    expect(chunkAttributes('d', { a: 'x'.repeat(valueLength + 1) })['metadata.a']).toBeUndefined();
    expect(chunkAttributes('d', { a: new Array(values + 1).fill('x') })['metadata.a']).toHaveLength(values);
    const many = Object.fromEntries(Array.from({ length: attributes }, (_, at) => [`k${at}`, at]));
    expect(Object.keys(chunkAttributes('d', many))).toHaveLength(attributes);
  });
});

test('the name of a partition can be parsed, and another name is refused', () => {
  const partition = { collectionId: '3f0c2e6e-8d5d-4c8e-9a51-5d6f7f1f2b10', version: 12 };
  expect(readPartitionName(partitionName(partition))).toEqual(partition);
  expect(() => readPartitionName('a/1')).toThrow('is not a collection id');
});
