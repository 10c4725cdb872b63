import { until } from '#kit/testing/until';
import type { CloudEvent } from '../../dataplane/catalogue/events/ports.ts';
import { type AgentSketch, resourcesOf, sketchAgent } from '../../dataplane/catalogue/testing/agent-resources.ts';
import type { CatalogueProcesses } from './catalogue-processes.ts';

/** The changes of an agent; `events` are type and version of each event that a receiver must get, in their order. */
export type AgentLife = {
  readonly agentId: string;
  readonly events: readonly (readonly [type: string, versionId: string | null])[];
};

type Stored = { readonly state: string; readonly version_id: string | null };

/** Long enough for the catalogue to count the process as lost. */
const lost = (): Date => new Date(Date.now() - 60_000);

/**
 * Takes one agent through every state. Each change waits until the previous one is stored, so that the feed, which may
 * skip intermediate changes, has seen each change, and the events are known.
 */
export async function liveOneLife(
  { createAgent, createVersion, resources, database }: CatalogueProcesses,
  name: string,
): Promise<AgentLife> {
  const stored = (state: string, version: string | null) =>
    until(`${name} is ${state} with the version ${version}`, async () => {
      const [row] = await database.sql<Stored[]>`
        select state, version_id from catalogue.agents where agent_id = ${sketch.agentId}::uuid`;
      return row?.state === state && row.version_id === version;
    });
  const serve = (version: string, versionId: string): void =>
    resources.change('agents', name, (object) => {
      const { agent } = resourcesOf(sketch);
      object['spec'] = { ...agent.spec, version };
      object['status'] = { ...agent.status, served: { version, versionId } };
    });
  const observe = (seen: AgentSketch): void =>
    resources.change('agentversions', `${name}-1`, (object) => {
      object['status'] = resourcesOf(seen).version.status;
    });

  const sketch = sketchAgent(name, { isServed: false, cardReason: 'CardDiffers' });
  await createAgent(sketch);
  await stored('degraded', null);
  const first = await createVersion(sketch, `${name}-1`);
  await stored('rejected', null);
  const verified = { ...sketch, cardReason: 'Verified' };
  observe(verified);
  await stored('degraded', null);
  serve(`${name}-1`, first);
  await stored('active', first);
  // This is awaited before the next change, so that the feed sees the event of that change later.
  const second = await createVersion(verified, `${name}-2`);
  observe({ ...verified, isReady: false, since: lost() });
  await stored('degraded', first);
  observe(verified);
  await stored('active', first);
  serve(`${name}-2`, second);
  await stored('active', second);
  resources.remove('agents', name);
  await stored('removed', second);
  return {
    agentId: sketch.agentId,
    events: [
      ['degraded', null],
      ['rejected', null],
      ['degraded', null],
      ['version.selected', first],
      ['activated', first],
      ['degraded', first],
      ['activated', first],
      ['version.selected', second],
      ['removed', second],
    ],
  };
}

const prefix = 'dev.portcullis.catalogue.agent.';

/** Differences between the events that were to be received of an agent and those that were, in the order of their arrival. */
export function lifeFaults({ agentId, events }: AgentLife, received: readonly CloudEvent[]): readonly string[] {
  const own = received.filter(({ subject }) => subject === agentId);
  const byId = Map.groupBy(own, ({ id }) => id);
  const changed = [...byId.values()].filter((same) => new Set(same.map((event) => JSON.stringify(event))).size > 1);
  const first = [...byId.values()].flatMap(([event]) => (event === undefined ? [] : [event]));
  const found = first.map(({ sequence, type, data }) => [sequence, type, data.versionId]);
  const expected = events.map(([type, versionId], at) => [String(at + 1).padStart(19, '0'), prefix + type, versionId]);
  return [
    ...changed.map(() => `${agentId}: an event was repeated with another content`),
    ...(JSON.stringify(found) === JSON.stringify(expected)
      ? []
      : [`${agentId}: received ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`]),
  ];
}
