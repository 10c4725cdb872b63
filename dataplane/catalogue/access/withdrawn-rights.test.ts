import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRelations } from '#relations/adapters/open-relations';
import type { Relations } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { authenticatedAll } from '#relations/tenant-object';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('rights that change during a request'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  let agents: readonly AgentSketch[];
  /** Called once, after the store has listed the agents that a caller reaches. */
  let afterList: (() => Promise<void>) | undefined;
  let isListable = true;

  /** A store of rights that stops after it has returned its lists, and that can refuse the lists as too long. */
  async function openStopping(relations: Relations): Promise<Relations> {
    return {
      ...relations,
      async nextObjects(...question) {
        if (!isListable) throw new RelationsModelError('too_complex', 'too many');
        const objects = await relations.nextObjects(...question);
        const [change] = [afterList];
        afterList = undefined;
        await change?.();
        return objects;
      },
    };
  }

  beforeAll(async () => {
    world = parts.use(
      await openCatalogue({
        openRights: async (database) =>
          await openStopping(await openRelations({ kind: 'postgres' }, database, undefined)),
      }),
    );
    const made: AgentSketch[] = [];
    for (const name of ['one', 'two', 'three']) made.push(await world.publish(name));
    agents = made.toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
  });
  afterAll(() => parts.disposeAsync());

  const search = async (person: string): Promise<readonly string[]> => {
    const body = JSON.stringify({ query: 'questions', workspaceId: 'support' });
    const headers = { 'content-type': 'application/json' };
    const { json } = await world.ask(person, '/api/v1/agents/search', { method: 'POST', body, headers });
    return (json['matches'] as readonly { readonly agentId: string }[]).map(({ agentId }) => agentId).toSorted();
  };

  test('an agent whose right is withdrawn after the rights were listed is in no page, read or search, and pages stay full', async () => {
    const [first, second, third] = agents as [AgentSketch, AgentSketch, AgentSketch];
    const ids = agents.map(({ agentId }) => agentId);
    const allow = async () => {
      await world.allow('ann', 'view', ...agents);
      await world.allow('ann', 'invoke', ...agents);
    };
    await allow();
    expect(await world.listed('ann')).toEqual(ids);
    expect(await search('ann')).toEqual(ids);

    afterList = () => world.forbid('ann', 'view', first);
    expect(await world.listed('ann', '?limit=1')).toEqual([second.agentId]);
    await allow();
    afterList = () => world.forbid('ann', 'view', third);
    const { json } = await world.ask('ann', '/api/v1/agents?limit=2');
    expect(json['nextCursor']).toBeNull();
    await allow();
    afterList = () => world.forbid('ann', 'view', first);
    expect((await world.ask('ann', `/api/v1/agents/${first.agentId}`)).status).toBe(404);
    await allow();
    afterList = () => world.forbid('ann', 'invoke', first);
    const read = await world.ask('ann', `/api/v1/agents/${first.agentId}`);
    expect([read.status, read.json['invocationInterface']]).toEqual([200, undefined]);
    await allow();
    afterList = () => world.forbid('ann', 'invoke', second);
    expect(await search('ann')).toEqual([first.agentId, third.agentId]);
    await world.forbid('ann', 'view', ...agents);
    await world.forbid('ann', 'invoke', ...agents);
  });

  test('a caller whose rights the store cannot list is answered by batched checks, with the same result', async () => {
    const [first, second, third] = agents as [AgentSketch, AgentSketch, AgentSketch];
    const object = (agent: AgentSketch) => `agent:${agent.agentId}`;
    const all = `${authenticatedAll}#member`;
    await world.relations.grant([
      { subject: all, relation: 'view', object: object(first) },
      { subject: all, relation: 'invoke', object: object(third) },
    ]);
    await world.allow('bob', 'view', third);
    const answers = async () => [
      await world.listed('bob'),
      await world.listed('bob', '?limit=1'),
      await search('bob'),
      ...(await Promise.all(
        agents.map(async ({ agentId }) => (await world.ask('bob', `/api/v1/agents/${agentId}`)).status),
      )),
    ];
    const expected = [[first.agentId, third.agentId], [first.agentId], [third.agentId], 200, 404, 200];
    expect(await answers()).toEqual(expected);
    isListable = false;
    expect(await answers()).toEqual(expected);
    expect((await world.ask('bob', `/api/v1/agents/${second.agentId}`)).status).toBe(404);
    isListable = true;
  });
});
