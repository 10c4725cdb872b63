import { describe, expect, test } from 'vitest';
import { policyConditions } from './conditions.ts';
import { decidePolicy } from './decide.ts';
import type { PolicySnapshot } from './snapshot.ts';

const id = '01990000-0000-7000-8000-000000000001';
const served = { names: [], unlisted: [], failed: [] };
const recorded = { number: 1, name: `${id}-1`, definitionDigest: 'd' };

function snapshot(change: Partial<PolicySnapshot> = {}): PolicySnapshot {
  return {
    name: 'guard',
    uid: 'one',
    generation: 1,
    id,
    hasFinalizer: true,
    deleting: false,
    isKept: false,
    problems: [],
    namesakes: [],
    newest: undefined,
    recorded: undefined,
    references: undefined,
    ...change,
  };
}

const copy = { name: 'a-copy', uid: 'two' };
const by = (uid: string, name = 'x') => ({ policy: { uid, name, generation: 1 } });
const leaving = { deleting: true, recorded };

describe('the next step of a policy', () => {
  test.each<readonly [string, Partial<PolicySnapshot>, object]>([
    ['gets an id', { id: undefined }, { kind: 'adopt' }],
    ['gets a finalizer', { hasFinalizer: false }, { kind: 'adopt' }],
    ['is recorded', {}, { kind: 'record' }],
    ['is settled when it is recorded', { recorded }, { result: { kind: 'recorded', revision: recorded } }],
    ['waits for an earlier write', { recorded: 'held' }, { result: { kind: 'held' } }],
    [
      'with a wrong structure is not recorded',
      { problems: ['a', 'b'] },
      { result: { kind: 'invalid', message: 'a; b' } },
    ],
    [
      'with many faults reports ten of them',
      { problems: Array.from({ length: 12 }, (_, index) => `p${index}`) },
      { result: { message: 'p0; p1; p2; p3; p4; p5; p6; p7; p8; p9; and 2 more' } },
    ],
    ['with an invalid id is not recorded', { id: 'x' }, { result: { kind: 'invalid', reason: 'InvalidId' } }],
    [
      'with an id in upper case is not recorded',
      { id: id.toUpperCase().replace('01990000', '0199000A') },
      { result: { reason: 'InvalidId' } },
    ],
    ['whose name sorts first owns a shared id', { namesakes: [{ ...copy, name: 'z' }] }, { kind: 'record' }],
    [
      'whose name sorts later does not own a shared id',
      { namesakes: [copy] },
      { result: { kind: 'id_conflict', owner: 'a-copy' } },
    ],
    ['that owns the revisions owns a shared id', { namesakes: [copy], newest: by('one') }, { kind: 'record' }],
    [
      'that was created again owns the revisions of its name',
      { namesakes: [copy], newest: by('gone', 'guard') },
      { kind: 'record' },
    ],
    [
      'reports a conflict when another policy owns the revisions',
      { namesakes: [{ name: 'z', uid: 'two' }], newest: by('two') },
      { result: { owner: 'z' } },
    ],
    ['is recorded before it is released', { deleting: true }, { kind: 'record' }],
    [
      'waits for the record of an earlier write before it is released',
      { deleting: true, recorded: 'held' },
      { result: { kind: 'held' } },
    ],
    ['that is being deleted is searched for references', leaving, { kind: 'find_references' }],
    [
      'that is being deleted stays while a reference exists',
      { ...leaving, references: ['binding chat'] },
      { result: { kind: 'leaving' } },
    ],
    [
      'whose deletion is cancelled exists again, even while a reference exists',
      { ...leaving, isKept: true, references: ['binding chat'] },
      { kind: 'take_back', from: recorded },
    ],
    ['whose deletion is cancelled is recorded before', { deleting: true, isKept: true }, { kind: 'record' }],
    [
      'whose deletion is cancelled stays until its spec is valid',
      { deleting: true, isKept: true, problems: ['a'] },
      { result: { kind: 'invalid' } },
    ],
    ['that is being deleted is released without a reference', { ...leaving, references: [] }, { kind: 'release' }],
    [
      'that was never accepted is released without a reference',
      { deleting: true, problems: ['a'], references: [] },
      { kind: 'release' },
    ],
    [
      'whose id belongs to another policy is released at once',
      { deleting: true, namesakes: [copy], newest: by('two') },
      { kind: 'release' },
    ],
    ['that was never adopted is released at once', { deleting: true, id: undefined }, { kind: 'release' }],
    ['that was released is not changed', { deleting: true, hasFinalizer: false }, { kind: 'nothing' }],
  ])('a policy %s', (_name, change, step) => expect(decidePolicy(snapshot(change))).toMatchObject(step));
});

test('the conditions of a policy report an invalid spec and an id conflict', () => {
  const say = (result: Parameters<typeof policyConditions>[0]) =>
    policyConditions(result, { judgement: undefined, served }, 7).map(
      ({ type, status, reason }) => `${type} ${status} ${reason}`,
    );
  const fine = ['Accepted True Accepted', 'IdConflict False NoConflict'];
  expect(say({ kind: 'recorded', revision: recorded })).toEqual(['Ready True Recorded', ...fine]);
  expect(say({ kind: 'held' })).toEqual(['Ready Unknown WaitingForRecord', ...fine]);
  expect(say({ kind: 'leaving', deletedAt: '2026-01-01T00:00:00Z', references: ['binding chat'] })).toEqual([
    'Ready False DeletionHeld',
    ...fine,
  ]);
  expect(say({ kind: 'invalid', reason: 'InvalidSpec', message: 'm' })).toEqual([
    'Ready False InvalidSpec',
    'Accepted False InvalidSpec',
    'IdConflict False NoConflict',
  ]);
  expect(say({ kind: 'id_conflict', owner: 'z' })).toEqual([
    'Ready False IdConflict',
    fine[0],
    'IdConflict True IdConflict',
  ]);
  const many = policyConditions(
    {
      kind: 'leaving',
      deletedAt: '2026-01-01T00:00:00Z',
      references: Array.from({ length: 12 }, (_one, n) => `binding b${n}`),
    },
    { judgement: undefined, served },
    7,
  );
  expect(many[0]?.message).toContain('binding b9 and 2 more');
});

test('the conditions of a policy report refused rules, and at most ten warnings', () => {
  const say = (judgement: Parameters<typeof policyConditions>[1]['judgement']) =>
    policyConditions({ kind: 'recorded', revision: recorded }, { judgement, served }, 7)
      .slice(3)
      .map(({ type, status, reason, message }) => [type, status, reason, message].join(' '));
  expect(say({ kind: 'refused', reason: 'rule_too_costly', message: 'rule slow: m' })).toEqual([
    'Valid False RuleTooCostly rule slow: m',
    'Warnings False NotValid The rules are not valid: there are no further warnings.',
  ]);
  expect(say({ kind: 'valid', warnings: [] })[1]).toBe(
    'Warnings False NoWarnings There is no warning about the rules.',
  );
  const warnings = Array.from({ length: 12 }, (_one, n) => `w${n}`);
  expect(say({ kind: 'valid', warnings })[1]).toMatch(/^Warnings True RulesHaveWarnings w0; w1; .*w9; and 2 more$/);
});

test('the conditions of a policy name the versions of agents for which it is served without being listed', () => {
  const say = (names: readonly string[], unlisted: readonly object[]) =>
    policyConditions(
      { kind: 'recorded', revision: recorded },
      { judgement: undefined, served: { names, unlisted, failed: [] } as never },
      7,
    ).slice(3);
  expect(say([], [])).toEqual([]);
  expect(say(['documents'], [])).toMatchObject([{ type: 'Served', status: 'True', reason: 'Listed' }]);
  const versions = Array.from({ length: 12 }, (_one, at) => `v${at}`);
  expect(say(['texts'], [{ name: 'texts', versions }])).toMatchObject([
    {
      type: 'Served',
      status: 'False',
      message: expect.stringContaining('v9 and 2 more. Their calls would be refused'),
    },
  ]);
});
