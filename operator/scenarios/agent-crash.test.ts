import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import { kinds } from '#resources/kinds';
import { type AgentPlatform, agentName, reasonOf, startAgentPlatform } from '../testing/agent-platform.ts';
import { type Death, type Mortality, mortality } from '../testing/mortal-client.ts';

/** Two versions that are ready, and a replica that reads every change of a route. The operator may be killed. */
async function startMortal(death: Death | undefined) {
  const world = await startAgentPlatform();
  await world.publish('one');
  await world.publish('two');
  const killed = mortality(death);
  await world.restart({ wrapClient: killed.wrapClient });
  const stop = new AbortController();
  const reporting = (async () => {
    while (!stop.signal.aborted) {
      // The server is unavailable while an operator is replaced.
      await world.report().catch(() => undefined);
      await pause(30);
    }
  })();
  return {
    world,
    killed,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reporting;
      await world[Symbol.asyncDispose]();
    },
  };
}

type Deed = {
  readonly does: (world: AgentPlatform) => Promise<unknown>;
  readonly done: (agent: Agent | undefined, route: AgentRoute | undefined) => boolean;
};

const serves = (version: string, canary?: string) => (agent: Agent | undefined, route: AgentRoute | undefined) => {
  const listed = route?.spec.versions.map((entry) => entry.version) ?? [];
  return (
    agent !== undefined &&
    reasonOf(agent) === 'Ready' &&
    agent.status?.served?.version === version &&
    agent.status.canary?.version === canary &&
    listed[0] === version
  );
};

const story: readonly Deed[] = [
  { does: (world) => world.agent({ keep: 0 }), done: serves('one') },
  { does: (world) => world.edit({ canary: { version: 'two', percent: 10 } }), done: serves('one', 'two') },
  {
    does: ({ platform }) =>
      platform.client.patch(kinds.agent, agentName, [
        { op: 'remove', path: '/spec/canary' },
        { op: 'replace', path: '/spec/version', value: 'two' },
      ]),
    done: (agent, route) => serves('two')(agent, route) && route?.spec.versions.length === 1,
  },
  {
    async does({ platform }) {
      const found = await platform.client.get<Agent>(kinds.agent, agentName);
      await platform.client.delete(kinds.agent, agentName, { uid: found?.metadata.uid ?? '' });
    },
    done: (agent, route) => agent === undefined && route === undefined,
  },
];

async function settled(world: AgentPlatform, killed: Mortality, done: Deed['done']): Promise<void> {
  const { platform } = world;
  await until('it is done or the operator is dead', async () => {
    const agent = await platform.client.get<Agent>(kinds.agent, agentName);
    const route = await platform.client.get<AgentRoute>(kinds.agentRoute, agentName);
    const isCurrent = agent === undefined || agent.status?.observedGeneration === agent.metadata.generation;
    return killed.isDead() || (isCurrent && done(agent, route));
  });
}

/**
 * Runs the steps; an operator that was killed is replaced by an operator that runs to the end. @returns the number of
 * writes
 */
async function tell(death: Death | undefined): Promise<number> {
  await using mortal = await startMortal(death);
  const { world } = mortal;
  let { killed } = mortal;
  for (const { does, done } of story) {
    await does(world);
    await settled(world, killed, done);
    if (!killed.isDead()) continue;
    killed = mortality(undefined);
    await world.restart({ wrapClient: killed.wrapClient });
    await settled(world, killed, done);
  }
  return killed.writes();
}

/** Runs at the same time: each of them mostly waits. */
const atOnce = 4;

async function dieOnce(death: Death): Promise<void> {
  await tell(death).catch((error: unknown) => {
    throw new Error(`after the death ${JSON.stringify(death)}: ${String(error)}`, { cause: error });
  });
}

describe('an operator that is killed while it routes an agent', () => {
  test('an operator that replaces one killed at any write serves, tries, switches and deletes the agent', async () => {
    const writes = await tell(undefined);
    expect(writes).toBeGreaterThan(10);
    const deaths = Array.from({ length: writes }, (_one, at) => at + 1).flatMap((write): Death[] => [
      { write, moment: 'before' },
      { write, moment: 'after' },
    ]);
    while (deaths.length > 0) await Promise.all(deaths.splice(0, atOnce).map(dieOnce));
  });
});
