import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { type AgentPlatform, startAgentPlatform } from '../testing/agent-platform.ts';

/** The counted versions, as a scrape shows them. */
async function countedBy({ platform }: AgentPlatform): Promise<string | undefined> {
  const text = await (await fetch(new URL('/metrics', platform.operator.url))).text();
  return /^portcullis_operator_agent_versions_not_ready\{service="operator"\} (\d+)$/m.exec(text)?.[1];
}

test('a scrape counts the versions of agents that are served and not ready, and none without a route', async () => {
  await using world = await startAgentPlatform();
  const { platform } = world;
  const count = () => countedBy(world);
  const counted = (expected: string) => until(`${expected} are counted`, async () => (await count()) === expected);
  expect(await count()).toBe('0');
  const one = await world.publish('one');
  await world.publish('two');
  await world.report();
  await world.agent();
  await world.route('one is routed', ({ served }) => served === one.metadata.uid);
  await world.report();
  await world.settled('Ready');
  expect(await count()).toBe('0');

  const workloadOf = (version: string) =>
    [...world.agents.running.values()].find(({ resource }) => resource === version)?.name ?? '';
  // No call reaches a version that no route has.
  world.agents.report(workloadOf('two'), { ready: false });
  await until('two is not ready', async () => {
    const found = await platform.client.get<AgentVersion>(kinds.agentVersion, 'two');
    return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'False';
  });
  expect(await count()).toBe('0');
  world.agents.report(workloadOf('one'), { ready: false });
  await counted('1');
  world.agents.report(workloadOf('one'), { ready: true });
  await counted('0');

  // A version that is deleted while it is served still accepts its calls.
  await platform.client.delete(kinds.agentVersion, 'one', { uid: one.metadata.uid });
  await until('the deletion waits', async () => {
    const found = await platform.client.get<AgentVersion>(kinds.agentVersion, 'one');
    return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason === 'Routed';
  });
  expect(await count()).toBe('0');
  world.agents.report(workloadOf('one'), { ready: false });
  await counted('1');
});

test('a previous version that is not ready is not counted, so that a fault of the served one is seen; one on trial is counted', async () => {
  await using world = await startAgentPlatform();
  const { platform } = world;
  const count = () => countedBy(world);
  const isReady = async (name: string, status: 'True' | 'False') => {
    await until(`Ready of ${name} is ${status}`, async () => {
      const found = await platform.client.get<AgentVersion>(kinds.agentVersion, name);
      return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === status;
    });
  };
  const set = async (name: string, ready: boolean) => {
    const workload = [...world.agents.running.values()].find(({ resource }) => resource === name)?.name ?? '';
    world.agents.report(workload, { ready });
    await isReady(name, ready ? 'True' : 'False');
  };
  const one = await world.publish('one');
  await world.report();
  await world.agent();
  await world.route('one is served', ({ served }) => served === one.metadata.uid);
  await world.report();
  await world.settled('Ready');
  const two = await world.publish('two');
  await world.edit({ version: 'two' });
  const { spec } = await world.route('two is served', ({ served }) => served === two.metadata.uid);
  await world.report();
  await world.settled('Ready');
  expect(spec.versions.map(({ version }) => version)).toEqual(['two', 'one']);

  await set('one', false);
  expect(await count()).toBe('0');
  await set('two', false);
  expect(await count()).toBe('1');
  await set('two', true);
  await set('one', true);
  expect(await count()).toBe('0');

  await world.edit({ canary: { version: 'one', percent: 10 } });
  await world.route('one is on trial', ({ canary }) => canary?.versionId === one.metadata.uid);
  await world.report();
  await world.settled('Ready');
  await set('one', false);
  expect(await count()).toBe('1');
});
