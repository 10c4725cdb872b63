import { expect, test } from 'vitest';
import type { Surroundings } from '#diagnosis/surroundings';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import { explainPolicy } from './explain-policy.ts';

type Said = readonly [type: string, status: string, reason: string];
type Changed = { readonly generation?: number; readonly deletionTimestamp?: string; readonly lifecycle?: string };

const leading = { operator: { state: 'leading', message: 'one is the leader.', replicas: [] }, problems: [] };
const absent = { operator: { state: 'absent', message: 'there is no leader', replicas: [] }, problems: [] };
const well: readonly Said[] = [
  ['Accepted', 'True', 'Accepted'],
  ['Valid', 'True', 'Valid'],
  ['Warnings', 'False', 'NoWarnings'],
  ['Ready', 'True', 'Recorded'],
];

function policy(changed: readonly Said[] = [], { generation = 1, deletionTimestamp, lifecycle }: Changed = {}) {
  const added = changed.filter(([type]) => well.every((one) => one[0] !== type));
  const conditions = [...well.map((one) => changed.find(([type]) => type === one[0]) ?? one), ...added].map(
    ([type, status, reason]) => ({ type, status, reason, message: `It said ${reason}`, observedGeneration: 1 }),
  );
  const metadata = { name: 'chat', generation, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
  const resource: unknown = { metadata, spec: { lifecycle: lifecycle ?? 'Draft' }, status: { conditions } };
  return resource as Stored<GuardrailPolicy>;
}

const explain = (resource: Stored<GuardrailPolicy>, surroundings: object = leading) =>
  explainPolicy(resource, surroundings as Surroundings, 'portcullis');

test('a recorded policy has no cause, and its warning is shown', () => {
  const { state, summary, cause, chain } = explain(policy([['Warnings', 'True', 'RulesHaveWarnings']]));
  expect([state, summary, cause]).toEqual([
    'recorded',
    'GuardrailPolicy chat is recorded and can be applied.',
    undefined,
  ]);
  expect(chain.map(({ part }) => part)).toEqual(['Operator', 'Accepted', 'Rules', 'Warnings', 'Record']);
  expect(chain[3]).toMatchObject({ state: 'aside', reason: 'RulesHaveWarnings' });
});

test('an archived policy is not ready for applications, and this is no problem', () => {
  expect(explain(policy([], { lifecycle: 'Archived' }))).toMatchObject({
    state: 'archived',
    summary: expect.stringContaining('cannot be applied again'),
  });
});

test('the explanation of a policy under deletion names the cause, and how to cancel the deletion', () => {
  const held = policy([['Ready', 'False', 'DeletionHeld']], { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const { state, summary, cause, whatToDo } = explain(held);
  expect(state).toBe('deleting');
  expect(summary).toBe('GuardrailPolicy chat is being deleted: It said DeletionHeld.');
  expect(cause).toMatchObject({ part: 'Deletion', reason: 'DeletionHeld' });
  expect(whatToDo).toMatch(/To keep chat, apply it again from its file, which cancels the deletion\./);
});

test.each<[string, readonly Said[], string, RegExp]>([
  ['an invalid spec', [['Accepted', 'False', 'InvalidSpec']], 'Accepted', /^Correct the field that the message names/],
  ['rules that cost too much', [['Valid', 'False', 'RuleTooCostly']], 'Rules', /portcullis apply-revision/],
])('a policy that is refused for %s names the step and the remedy', (_, changed, part, remedy) => {
  const { state, cause, whatToDo } = explain(policy(changed));
  expect([state, cause?.part]).toEqual(['refused', part]);
  expect(whatToDo).toMatch(remedy);
});

test('a policy that no operator has processed is pending, and a missing operator is the cause', () => {
  expect(explain(policy([], { generation: 2 }))).toMatchObject({ state: 'waiting', cause: { reason: 'NotLookedAt' } });
  expect(explain(policy([], { generation: 2 }), absent)).toMatchObject({ cause: { reason: 'NoOperator' } });
});

test('a policy that is served without being listed is recorded, and the cause names the remedy', () => {
  const unlisted = explain(policy([['Served', 'False', 'ServedPolicyUnlisted']]));
  expect(unlisted).toMatchObject({ state: 'recorded', cause: { part: 'Served', reason: 'ServedPolicyUnlisted' } });
  expect(unlisted.whatToDo).toContain('served-policies.yaml');
  expect(explain(policy([['Served', 'True', 'Listed']])).cause).toBeUndefined();
});

test('a served policy that failed is the cause', () => {
  const failed = explain(policy([['Served', 'False', 'ServedPolicyFailed']]));
  expect(failed).toMatchObject({ state: 'recorded', cause: { part: 'Served', reason: 'ServedPolicyFailed' } });
  expect(failed.whatToDo).toContain('its tests, or the revision');
});
