import fc from 'fast-check';
import type { AttributeCondition, Comparison } from '../condition.ts';
import type { AttributeValue, IndexChange, IndexEntry, Leg } from '../ports.ts';

/** Dimensions of generated vectors. */
const dimensions = 4;
const labels = ['group:a', 'group:b', 'user:a', 'public'];
/** Includes terms that look alike, and terms with characters that have a meaning in a query language. */
const terms = ['книг', 'book', 'ice', '2024', 'or', 'a-b*'];

export const unit = (...numbers: readonly number[]): Float32Array => {
  const length = Math.hypot(...numbers) || 1;
  return Float32Array.from(numbers, (number) => number / length);
};

const vector = fc
  .array(fc.integer({ min: -5, max: 5 }), { minLength: dimensions, maxLength: dimensions })
  .filter((numbers) => numbers.some((number) => number !== 0))
  .map((numbers) => unit(...numbers));
const word = fc.constantFrom('', 'red', 'redder', 'зелёный', 'a.b', '\u{1F600}', '\uffee', 'x"y\\z*?');
const scalar: fc.Arbitrary<AttributeValue> = fc.oneof(
  word,
  fc.integer({ min: -3, max: 3 }),
  fc.double({ min: -1, max: 1, noNaN: true }).map((value) => value + 0),
  fc.boolean(),
);
const path = fc.constantFrom('colour', 'metadata.size', 'flag');
const attributes = fc.dictionary(path, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), {
  maxKeys: 3,
  noNullPrototype: true,
});

/** Labels of a caller, including unknown labels. */
export const callerLabels = fc.oneof(fc.constant('every' as const), fc.subarray([...labels, 'group:none']));

const comparison: fc.Arbitrary<Comparison> = fc.oneof(
  fc.record({ path, op: fc.constant('eq' as const), value: scalar }),
  fc.record({ path, op: fc.constant('ne' as const), value: scalar }),
  fc.record({
    path,
    op: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const),
    value: fc.oneof(word, fc.integer({ min: -3, max: 3 })),
  }),
  fc.record({ path, op: fc.constant('contains' as const), value: fc.constantFrom('red', 'e', '.', '*', 'ё', '"') }),
  fc.record({ path, op: fc.constant('in' as const), value: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
);

export const condition: fc.Arbitrary<AttributeCondition> = fc.letrec<{ tree: AttributeCondition }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    comparison,
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('tree').map((not) => ({ not })),
  ),
})).tree;

const content = fc.record(
  { labels: fc.subarray(labels), attributes, terms: fc.array(fc.constantFrom(...terms), { maxLength: 6 }), vector },
  { requiredKeys: ['labels', 'attributes', 'terms'] },
);

/** A group with its new entries. Their ids contain the version, because the content of an id never changes. */
const groupWrite = fc.record({
  group: fc.constantFrom('d1', 'd2', 'd3', 'd4', 'd5'),
  contents: fc.array(content, { maxLength: 4 }),
});

/** Successive writes, each of which replaces the content of one group. */
export const writes: fc.Arbitrary<readonly (readonly IndexChange[])[]> = fc
  .array(groupWrite, { minLength: 1, maxLength: 8 })
  .map((list) =>
    list.map(({ group, contents }, version) =>
      replaceGroup(
        group,
        contents.map((given, no) => ({ ...given, id: `${group}-${version}-${no}`, group })),
      ),
    ),
  );

/** The changes that give a group its new entries and remove its other entries. */
export function replaceGroup(group: string, entries: readonly IndexEntry[]): readonly IndexChange[] {
  return [
    ...entries.map((entry): IndexChange => ({ kind: 'put', entry })),
    { kind: 'retain', group, ids: entries.map(({ id }) => id) },
  ];
}

export const bothLegs: fc.Arbitrary<readonly Leg[]> = fc
  .tuple(fc.array(fc.constantFrom(...terms, 'absent'), { minLength: 1, maxLength: 4 }), vector)
  .map(([asked, near]) => [
    { kind: 'bm25', terms: asked },
    { kind: 'vector', vector: near },
  ]);

/** An entry with one label, one term and one vector; `changed` replaces some members. */
export function entryOf(id: string, changed: Partial<IndexEntry> = {}): IndexEntry {
  return { id, group: id, labels: ['public'], attributes: {}, terms: ['книг'], vector: unit(1, 0, 0, 0), ...changed };
}
