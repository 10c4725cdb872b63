import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import { revisionOf } from '../controllers/model-binding/testing/snapshots.ts';
import { newestIdOfName } from './revision-heads.ts';

const older = '01990000-0000-7000-8000-000000000001';
const newer = '01990000-0000-7000-8000-000000000002';

function clientOf(recorded: readonly (readonly [id: string, at: string])[]): Pick<KubeClient, 'list'> {
  const items = recorded.map(([policyId, creationTimestamp], index) => ({
    metadata: { name: `${policyId}-${index}`, creationTimestamp },
    spec: { ...revisionOf(1), policyId },
  }));
  return { list: async () => ({ items: items as never, resourceVersion: '1' }) };
}

test.each<readonly [string, Parameters<typeof clientOf>[0], string | undefined]>([
  ['no revision', [], undefined],
  [
    'the id of the latest revision, whatever ids exist',
    [
      [newer, '2026-01-01T00:00:00Z'],
      [older, '2026-01-02T00:00:00Z'],
    ],
    older,
  ],
  [
    'the newer id when all were recorded at the same time',
    [
      [newer, '2026-01-02T00:00:00Z'],
      [older, '2026-01-02T00:00:00Z'],
    ],
    newer,
  ],
])('the id that a new policy of a known name gets is %s', async (_what, recorded, id) => {
  expect(await newestIdOfName(clientOf(recorded), revisionOf(1).policy.name)).toBe(id);
});

test('revisions of a policy whose name has the same hash are ignored', async () => {
  expect(await newestIdOfName(clientOf([[older, '2026-01-01T00:00:00Z']]), 'other')).toBeUndefined();
});
