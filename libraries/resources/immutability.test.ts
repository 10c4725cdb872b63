import { describe, expect, test } from 'vitest';
import { identityProblems } from './identity.ts';
import { immutabilityProblems } from './immutability.ts';
import { idLabel, kinds, restoredUidAnnotation } from './kinds.ts';
import { purgedSpec } from './purged-revision.ts';

type Subject = Parameters<typeof immutabilityProblems>[1];

function subject(spec: unknown, labels?: Record<string, string>): Subject {
  return { metadata: { name: 'x', ...(labels === undefined ? {} : { labels }) }, spec };
}

const fields = (...args: Parameters<typeof immutabilityProblems>) =>
  immutabilityProblems(...args).map(({ field }) => field);

test('the spec of a PolicyRevision cannot be changed, extended or reduced', () => {
  const before = subject({ number: 1, tests: [] });
  for (const after of [{ number: 2, tests: [] }, { number: 1, tests: [], more: 1 }, { number: 1 }]) {
    expect(fields(kinds.policyRevision, before, subject(after))).toEqual(['spec']);
  }
  expect(fields(kinds.policyRevision, before, subject({ tests: [], number: 1 }, { any: 'label' }))).toEqual([]);
});

test('the text of a PolicyRevision can be removed once, and nothing else can change with it', () => {
  const texts = { displayName: 'Sample', description: 'why', message: 'why', refusalText: 'no', definition: '{}' };
  const kept = { policyId: 'p', number: 1, policy: { name: 'p', uid: 'u', generation: 1 }, token: '', author: 'a' };
  const counts = { lifecycle: 'Draft' as const, definitionDigest: '0'.repeat(64), ruleCount: 0, ruleKinds: [] };
  const before = { ...kept, ...texts, ...counts, tests: [] };
  const at = '2026-01-02T03:04:05.000Z';
  const purged = purgedSpec(before, at);
  expect(JSON.stringify(purged)).not.toMatch(/why|"no"/);
  expect(fields(kinds.policyRevision, subject(before), subject(purged))).toEqual([]);
  for (const after of [
    { ...purged, number: before.number + 1 },
    { ...purged, definitionDigest: 'b'.repeat(64) },
    { ...purged, author: 'b' },
    { ...purged, definition: before.definition },
    { ...purged, displayName: before.displayName },
    { ...purged, message: 'why' },
  ]) {
    expect(fields(kinds.policyRevision, subject(before), subject(after))).toEqual(['spec']);
  }
  expect(fields(kinds.policyRevision, subject(purged), subject(before))).toEqual(['spec']);
  expect(fields(kinds.policyRevision, subject(purged), subject({ ...purged, purgeTime: before.token }))).toEqual([
    'spec',
  ]);
});

test('digest, build and manifest of a RuntimeWorkload cannot change, and replicas and state can change', () => {
  const spec = { digest: 'd', build: 'b', manifest: 'm', replicas: 1, state: 'Active' };
  for (const member of ['digest', 'build', 'manifest'] as const) {
    const { [member]: _, ...without } = spec;
    for (const after of [{ ...spec, [member]: 'other' }, without]) {
      expect(fields(kinds.runtimeWorkload, subject(spec), subject(after))).toEqual([`spec.${member}`]);
    }
  }
  const moved = { ...spec, replicas: 2, state: 'Draining' };
  expect(fields(kinds.runtimeWorkload, subject(spec), subject(moved))).toEqual([]);
});

test('the spec of every other kind can change', () => {
  const frozen: readonly string[] = ['PolicyRevision', 'RuntimeWorkload', 'AgentVersion'];
  for (const kind of Object.values(kinds).filter((one) => !frozen.includes(one.kind))) {
    expect(fields(kind, subject({ a: 1 }), subject({ a: 2 }))).toEqual([]);
  }
});

describe('the UID of a restored Collection', () => {
  const annotated = (uid?: string) => ({
    ...subject({}),
    metadata: { name: 'handbook', ...(uid === undefined ? {} : { annotations: { [restoredUidAnnotation]: uid } }) },
  });
  const field = `metadata.annotations[${restoredUidAnnotation}]`;

  test('the UID of a restored Collection is neither added, changed nor removed', () => {
    const kept = kinds.collection;
    expect(fields(kept, annotated('one'), annotated('one'))).toEqual([]);
    expect(fields(kept, annotated(), annotated('one'))).toEqual([field]);
    expect(fields(kept, annotated('one'), annotated('two'))).toEqual([field]);
    expect(fields(kept, annotated('one'), annotated())).toEqual([field]);
    expect(fields(kinds.guardrailPolicy, annotated(), annotated('one'))).toEqual([]);
  });
});

describe('the id label', () => {
  const id = '01990000-0000-7000-8000-000000000001';
  const other = '01990000-0000-7000-8000-000000000002';
  const field = `metadata.labels[${idLabel}]`;

  test('an id label that is set can neither be changed nor removed', () => {
    for (const kind of Object.values(kinds)) {
      expect(fields(kind, subject({}), subject({}, { [idLabel]: id }))).toEqual([]);
      expect(fields(kind, subject({}, { other: 'x' }), subject({}, { [idLabel]: id }))).toEqual([]);
      expect(fields(kind, subject({}, { [idLabel]: id }), subject({}, { [idLabel]: id, other: 'y' }))).toEqual([]);
      expect(fields(kind, subject({}, { [idLabel]: id }), subject({}, { [idLabel]: other }))).toEqual([field]);
      expect(fields(kind, subject({}, { [idLabel]: id }), subject({}, {}))).toEqual([field]);
      expect(fields(kind, subject({}, { [idLabel]: id }), subject({}))).toEqual([field]);
    }
  });

  test.each([
    ['an empty one', ''],
    ['a word', 'my-policy'],
    ['a UUID of version 4', '01990000-0000-4000-8000-000000000001'],
    ['another variant', '01990000-0000-7000-7000-000000000001'],
    ['upper case', id.replace('01990000', '0199000A')],
    ['one digit more', `${id}0`],
  ])('an id label must be a UUID of version 7 in lower case: %s is refused', (_, given) => {
    const after = subject({}, { [idLabel]: given });
    expect(identityProblems(undefined, after)).toMatchObject([{ field }]);
    expect(identityProblems(subject({}), after)).toMatchObject([{ field }]);
    expect(identityProblems(after, after)).toEqual([]);
  });

  test('a GuardrailPolicy without the id label is valid', () => {
    expect(identityProblems(undefined, subject({}))).toEqual([]);
    expect(identityProblems(undefined, subject({}, { [idLabel]: id }))).toEqual([]);
  });
});
