import { expect, test } from 'vitest';
import { immutabilityProblems } from './immutability.ts';
import { idLabel, kinds } from './kinds.ts';

type Subject = Parameters<typeof immutabilityProblems>[1];

function subject(spec: unknown, labels?: Record<string, string>): Subject {
  return { metadata: { name: 'x', ...(labels === undefined ? {} : { labels }) }, spec };
}

const fields = (...args: Parameters<typeof immutabilityProblems>) =>
  immutabilityProblems(...args).map(({ field }) => field);

test('the spec of a policy revision never changes, by change, addition or removal', () => {
  const before = subject({ number: 1, tests: [] });
  for (const after of [{ number: 2, tests: [] }, { number: 1, tests: [], more: 1 }, { number: 1 }]) {
    expect(fields(kinds.policyRevision, before, subject(after))).toEqual(['spec']);
  }
  expect(fields(kinds.policyRevision, before, subject({ tests: [], number: 1 }, { any: 'label' }))).toEqual([]);
});

test('the spec of every other kind changes freely', () => {
  for (const kind of Object.values(kinds).filter((one) => one !== kinds.policyRevision)) {
    expect(fields(kind, subject({ a: 1 }), subject({ a: 2 }))).toEqual([]);
  }
});

test('the id label is set once: neither changed nor removed', () => {
  const field = `metadata.labels[${idLabel}]`;
  for (const kind of Object.values(kinds)) {
    expect(fields(kind, subject({}), subject({}, { [idLabel]: 'a' }))).toEqual([]);
    expect(fields(kind, subject({}, { other: 'x' }), subject({}, { [idLabel]: 'a' }))).toEqual([]);
    expect(fields(kind, subject({}, { [idLabel]: 'a' }), subject({}, { [idLabel]: 'a', other: 'y' }))).toEqual([]);
    expect(fields(kind, subject({}, { [idLabel]: 'a' }), subject({}, { [idLabel]: 'b' }))).toEqual([field]);
    expect(fields(kind, subject({}, { [idLabel]: 'a' }), subject({}, {}))).toEqual([field]);
    expect(fields(kind, subject({}, { [idLabel]: 'a' }), subject({}))).toEqual([field]);
  }
});
