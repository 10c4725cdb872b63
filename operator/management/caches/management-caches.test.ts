import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { sampleAgent } from '#kube/testing/sample-agents';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import { makeDataDirectory, openFolder, silentLogger } from '../../folder-api/testing/open-folder.ts';
import { startManagementCaches } from './management-caches.ts';

test('the agent listener is called for each generation and each new object, and not for a change of status', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  await using caches = startManagementCaches({ client, logger: silentLogger, clock: systemClock });
  const told: [string, number][] = [];
  caches.onAgentChange(({ metadata }) => told.push([metadata.uid, metadata.generation]));
  await caches.synced;

  const first = await client.create<Agent>(kinds.agent, sampleAgent('desk', 'desk-1'));
  for (const observedGeneration of [1, 2, 3]) {
    const value = { conditions: [], observedGeneration };
    await client.patchStatus(kinds.agent, 'desk', [{ op: 'add', path: '/status', value }]);
  }
  await client.patch(kinds.agent, 'desk', [{ op: 'replace', path: '/spec/version', value: 'desk-2' }]);
  await client.delete(kinds.agent, 'desk', { uid: first.metadata.uid });
  const second = await client.create<Agent>(kinds.agent, sampleAgent('desk', 'desk-1'));

  const isSeen = async () => caches.agents.get('desk')?.metadata.uid === second.metadata.uid;
  await until('the watch reported the second object', isSeen);
  expect(told).toEqual([
    [first.metadata.uid, 1],
    [first.metadata.uid, 2],
    [second.metadata.uid, 1],
  ]);
});
