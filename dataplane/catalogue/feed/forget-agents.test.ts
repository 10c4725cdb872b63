import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

const month = 30 * 24 * 60;

describe.skipIf(missingPostgres !== undefined)(onPostgres('agents that were removed'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  const remove = async (agent: AgentSketch): Promise<void> => {
    world.resources.remove('agents', agent.name);
    await until(`${agent.name} is removed`, async () => (await world.stored(agent)) === 'removed');
  };
  /** Changes the row as if the agent had been removed that many minutes ago. */
  const age = ({ agentId }: AgentSketch, minutes: number) => world.database.sql`
    update catalogue.agents set updated_at = clock_timestamp() - make_interval(mins => ${minutes}::int)
    where agent_id = ${agentId}::uuid`;
  const forgetEventsOf = ({ agentId }: AgentSketch) =>
    world.database.sql`delete from catalogue.outbox where agent_id = ${agentId}::uuid`;
  const isGone = async (agent: AgentSketch): Promise<boolean> => (await world.stored(agent)) === undefined;
  const entriesOf = async ({ agentId }: AgentSketch) =>
    (await world.database.sql`select from catalogue.entries where agent_id = ${agentId}::uuid`).length;
  const eventsOf = async ({ agentId }: AgentSketch) => {
    const rows = await world.database.sql<{ event_no: string; type: string }[]>`
      select event_no, type from catalogue.outbox where agent_id = ${agentId}::uuid order by event_no`;
    return rows.map(({ event_no: number, type }) => `${number} ${type}`);
  };
  const found = async (query: string): Promise<readonly unknown[]> => {
    const body = JSON.stringify({ query, workspaceId: 'support' });
    const headers = { 'content-type': 'application/json' };
    const { status, json } = await world.ask('ann', '/api/v1/agents/search', { method: 'POST', body, headers });
    return [status, ...(json['matches'] as readonly { readonly agentId: string }[]).map(({ agentId }) => agentId)];
  };

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
  });
  afterAll(() => parts.disposeAsync());

  test('the numbers of the events of an agent continue when it returns after it was forgotten', async () => {
    const agent = await world.publish('returning');
    await remove(agent);
    expect(await eventsOf(agent)).toEqual(['1 agent.version.selected', '2 agent.activated', '3 agent.removed']);
    await forgetEventsOf(agent);
    await age(agent, month + 1);
    await until('it is forgotten', () => isGone(agent));
    const other = await world.publish('in-between');
    world.resources.remove('agentversions', 'returning-1');
    world.resources.remove('agentroutes', 'returning');
    const again = await world.publish('returning');
    expect(again.agentId).toBe(agent.agentId);
    for (const one of [other, again]) {
      expect(await eventsOf(one)).toEqual(['4 agent.version.selected', '5 agent.activated']);
    }
    await remove(again);
    expect((await eventsOf(again)).at(-1)).toBe('6 agent.removed');
  });

  test('30 days after its removal no data of an agent is stored unless an event about it is', async () => {
    const [old, recent, told, live] = (await Promise.all(
      ['old', 'recent', 'told', 'live'].map((name) => world.publish(name)),
    )) as [AgentSketch, AgentSketch, AgentSketch, AgentSketch];
    await world.allow('ann', 'view', old, recent, told, live);
    for (const agent of [old, recent, told]) await remove(agent);
    for (const agent of [old, recent, live]) await forgetEventsOf(agent);
    await age(recent, month - 60);
    await age(told, 2 * month);
    await age(live, 2 * month);
    expect(await world.listed('ann', '?state=removed')).toEqual(
      [old, recent, told].map(({ agentId }) => agentId).toSorted(),
    );
    await age(old, month + 1);
    await until('the old one is forgotten', () => isGone(old));
    expect(await entriesOf(old)).toBe(0);
    for (const agent of [recent, told, live]) expect([agent.name, await isGone(agent)]).toEqual([agent.name, false]);
    expect((await world.ask('ann', `/api/v1/agents/${old.agentId}`)).status).toBe(404);
    await forgetEventsOf(told);
    await until('the other one is forgotten with its last event', () => isGone(told));
    expect(await world.listed('ann', '?state=removed')).toEqual([recent.agentId]);
    expect(await world.listed('ann')).toEqual([live.agentId]);
  });

  test('an index that lags behind the end of a forgotten agent is loaded again and answers without it', async () => {
    const [kept, gone] = [await world.publish('harbour'), await world.publish('lighthouse')];
    await world.allow('ann', 'invoke', kept, gone);
    expect(await found('lighthouse')).toEqual([200, gone.agentId]);
    await remove(gone);
    await forgetEventsOf(gone);
    await age(gone, month + 1);
    await until('it is forgotten', () => isGone(gone));
    expect(await found('lighthouse')).toEqual([200]);
    expect(await found('harbour')).toEqual([200, kept.agentId]);
  });

  test('many agents are forgotten in several transactions', async () => {
    const { sql } = world.database;
    const count = async () => (await sql`select from catalogue.agents where workspace = 'crowd'`).length;
    const url = `https://agents.example/${randomUUID()}`;
    await sql`
      insert into catalogue.agents (agent_id, resource, name, description, workspace, owner_issuer, owner_subject, state,
        protocol, implementation_type, version_id, skills, url, is_ready, is_consistent, is_routed, exposure, updated_at)
      select gen_random_uuid(), 'crowd-' || at, 'Agent', '', 'crowd', 'i', 's', 'removed', 'a2a', 'low-code', null,
        '[]'::jsonb, ${url}, false, false, false, 'R1',
        clock_timestamp() - make_interval(mins => case when at <= 250 then ${month + 1}::int else ${month - 60}::int end)
      from generate_series(1, 255) as at`;
    await until('250 are forgotten', async () => (await count()) === 5);
  });
});
