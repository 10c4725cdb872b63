import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type AgentSketch, resourcesOf } from '../../dataplane/catalogue/testing/agent-resources.ts';
import { type CatalogueProcesses, startCatalogueProcesses } from './catalogue-processes.ts';

type Row = { readonly state: string; readonly description: string };

const environment = { PORTCULLIS_MODEL_GATEWAY_URL: 'http://127.0.0.1:9' };
const files = { PORTCULLIS_MODELS_FILE: 'embedding: []\n' };
/** The process ends without a shutdown, so that it cannot store anything. */
const kill = 'SIGKILL';

async function rowOf({ database }: CatalogueProcesses, { agentId }: AgentSketch): Promise<Row | undefined> {
  const [row] = await database.sql<Row[]>`
    select state, description from catalogue.agents where agent_id = ${agentId}::uuid`;
  return row;
}

async function eventsOf({ database }: CatalogueProcesses, { agentId }: AgentSketch): Promise<readonly string[]> {
  const rows = await database.sql<{ type: string }[]>`
    select type from catalogue.outbox where agent_id = ${agentId}::uuid order by event_no`;
  return rows.map(({ type }) => type);
}

/** No resource that is left names the agent. */
function removeAll({ resources }: CatalogueProcesses, name: string): void {
  resources.remove('agentversions', `${name}-1`);
  resources.remove('agentroutes', name);
  resources.remove('agents', name);
}

const isActive = (world: CatalogueProcesses, agent: AgentSketch) =>
  until(`${agent.name} is active`, async () => (await rowOf(world, agent))?.state === 'active');

describe.skipIf(missingPostgres !== undefined)(onPostgres('a worker of the catalogue that starts again'), () => {
  test('agents that were deleted, changed and created while no worker ran are removed, changed and listed', async () => {
    await using world = await startCatalogueProcesses({ environment, files });
    const deleted = await world.create('deleted');
    const changed = await world.create('changed');
    const unchanged = await world.create('unchanged');
    for (const agent of [deleted, changed, unchanged]) await isActive(world, agent);
    await world.running.worker.end(kill);
    removeAll(world, 'deleted');
    const description = 'Answers about something else.';
    world.resources.change('agentversions', 'changed-1', (object) => {
      object['spec'] = resourcesOf({ ...changed, description }).version.spec;
    });
    const created = await world.create('created');
    expect(await rowOf(world, deleted)).toMatchObject({ state: 'active' });
    await world.start('worker');
    await until('the deletion is stored', async () => (await rowOf(world, deleted))?.state === 'removed');
    await until('the text is stored', async () => (await rowOf(world, changed))?.description === description);
    await isActive(world, created);
    const begun = ['agent.version.selected', 'agent.activated'];
    expect(await eventsOf(world, deleted)).toEqual([...begun, 'agent.removed']);
    // A text is no event, and neither is a restart.
    for (const agent of [changed, unchanged, created]) expect(await eventsOf(world, agent)).toEqual(begun);
    await world.allow('ann', 'view', deleted, changed, unchanged, created);
    const { items } = (await (await world.ask('ann', '/api/v1/agents')).json()) as { items: { agentId: string }[] };
    const expected = [changed, unchanged, created].map(({ agentId }) => agentId).toSorted();
    expect(items.map(({ agentId }) => agentId)).toEqual(expected);
  });

  test('twelve agents that vanished while no worker ran stay, and the worker reports a pause', async () => {
    await using world = await startCatalogueProcesses({
      environment: { ...environment, PORTCULLIS_MASS_REMOVAL: 'pause' },
      files,
    });
    const many = await Promise.all(Array.from({ length: 12 }, (_one, at) => world.create(`crowd-${at}`)));
    for (const agent of many) await isActive(world, agent);
    await world.running.worker.end(kill);
    for (const { name } of many) removeAll(world, name);
    await world.start('worker');
    const paused = async (): Promise<boolean> => {
      const text = await (await fetch(`${world.running.worker.ready['admin']}/metrics`)).text();
      return /^portcullis_catalogue_feed_paused\{[^}]*\} 1$/m.test(text);
    };
    await until('the feed is paused', paused);
    const later = await world.create('later');
    await isActive(world, later);
    for (const agent of many) expect(await rowOf(world, agent)).toMatchObject({ state: 'active' });
  });
});
