import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { startAgentPlatform } from '../testing/agent-platform.ts';

test('a scrape counts the versions that a route of an agent has and that are not ready, and no other version', async () => {
  await using world = await startAgentPlatform();
  const { platform } = world;
  const count = async () => {
    const text = await (await fetch(new URL('/metrics', platform.operator.url))).text();
    return /^portcullis_operator_agent_versions_not_ready\{service="operator"\} (\d+)$/m.exec(text)?.[1];
  };
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

  // A version that is deleted while it is served takes its calls.
  await platform.client.delete(kinds.agentVersion, 'one', { uid: one.metadata.uid });
  await until('the deletion waits', async () => {
    const found = await platform.client.get<AgentVersion>(kinds.agentVersion, 'one');
    return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason === 'Routed';
  });
  expect(await count()).toBe('0');
  world.agents.report(workloadOf('one'), { ready: false });
  await counted('1');
});
