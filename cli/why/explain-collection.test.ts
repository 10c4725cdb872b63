import { describe, expect, test } from 'vitest';
import { managedConflicts } from '#contracts/managed-collections';
import { advice } from '#diagnosis/advice';
import type { Surroundings } from '#diagnosis/surroundings';
import type { CollectionResource } from '#resources/collection';
import type { Stored } from '#resources/metadata';
import { explainCollection } from './explain-collection.ts';

type Said = readonly [type: string, status: string, reason: string];

const leading = { operator: { state: 'leading', message: 'one is the leader.', replicas: [] }, problems: [] };
const absent = { operator: { state: 'absent', message: 'there is no leader', replicas: [] }, problems: [] };

function explain(said: readonly Said[], { generation = 1, surroundings = leading } = {}) {
  const conditions = said.map(([type, status, reason]) => ({
    type,
    status,
    reason,
    message: `It said ${reason}.`,
    observedGeneration: 1,
  }));
  const resource = { metadata: { name: 'handbook', generation }, spec: { name: 'our rules' }, status: { conditions } };
  return explainCollection(
    resource as unknown as Stored<CollectionResource>,
    surroundings as unknown as Surroundings,
    'portcullis',
  );
}

const well: readonly Said[] = [
  ['Ready', 'True', 'Ready'],
  ['Accepted', 'True', 'Accepted'],
  ['Synced', 'True', 'Synced'],
  ['ProfileActive', 'True', 'Active'],
];
const but = (...changed: readonly Said[]): readonly Said[] =>
  well.map((one) => changed.find(([type]) => type === one[0]) ?? one);

describe('portcullis why collection/NAME', () => {
  test('a collection in its desired state has no cause', () => {
    const { summary, cause, chain } = explain(well);
    expect([summary, cause]).toEqual(['Collection handbook is ready.', undefined]);
    expect(chain.map(({ part, state }) => [part, state])).toEqual([
      ['Operator', 'well'],
      ['Accepted', 'well'],
      ['Collection', 'well'],
      ['Profile', 'well'],
      ['Ready', 'well'],
    ]);
  });

  test('the first condition that is not met is the cause, and what to do follows from its reason', () => {
    const taken = explain(but(['Ready', 'False', 'NameTaken'], ['Synced', 'False', 'NameTaken']));
    expect(taken.summary).toBe('Collection handbook is not ready: It said NameTaken.');
    expect(taken.cause?.part).toBe('Collection');
    expect(taken.whatToDo).toContain('source.mode Existing');
    const refused = explain(but(['Ready', 'False', 'TenantNotApproved'], ['Accepted', 'False', 'TenantNotApproved']));
    expect(refused.cause?.part).toBe('Accepted');
  });

  test('a reindex in progress is not a problem, and a failed reindex is a problem', () => {
    expect(explain(but(['ProfileActive', 'False', 'Reindexing'])).cause).toBeUndefined();
    const failed = explain(but(['ProfileActive', 'False', 'ReindexFailed']));
    expect(failed.whatToDo).toContain("portcullis collection reindex 'our rules'");
  });

  test('a detector that does not judge is the cause of a collection that is ready, and what to do follows from its reason', () => {
    const failing = explain([...well, ['ProviderReachable', 'False', 'HostNotFound']]);
    expect(failing).toMatchObject({ state: 'ready', cause: { part: 'Checks', reason: 'HostNotFound' } });
    expect(failing.whatToDo).toContain('DNS');
    const judging = explain([...well, ['ProviderReachable', 'True', 'Reachable']]);
    expect([judging.cause, judging.chain.at(-1)?.part]).toEqual([undefined, 'Checks']);
  });

  test('a generation that is not processed yet waits for the operator, or for an operator to start', () => {
    expect(explain(well, { generation: 2 })).toMatchObject({ state: 'waiting', cause: { reason: 'NotLookedAt' } });
    expect(explain(well, { generation: 2, surroundings: absent }).cause?.reason).toBe('NoOperator');
  });

  test('every conflict that the service names has advice', () => {
    const reasons = ['NameTaken', 'IdUsed', 'NothingToTakeOver', 'NotManaged', 'OwnerDiffers', 'HasChildren'];
    const places = ['ParentNotWritable', 'ParentNotPossible', 'IndexFull'];
    const fixed = ['TypeDiffers', 'AclModelDiffers', 'ChunkingDiffers'];
    expect(reasons.length + fixed.length + places.length).toBe(Object.keys(managedConflicts).length);
    for (const reason of [...reasons, ...fixed, ...places]) expect(advice).toHaveProperty([reason]);
  });
});
