import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentProtocols } from '#contracts/catalogue';
import type { SearchIndex } from '#search/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { writeAgent } from '../feed/write-agent.ts';
import { findShownAgent } from '../records/read-agents.ts';
import { countedWords } from '../testing/counted-words.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import { searchAgents } from './search-agents.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a search beside changes'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  const search = (candidates: SearchIndex['candidates'], workspaceId = 'support') => {
    const { database, relations } = world;
    // The rest of the index is not used by a search.
    const index = { candidates } as SearchIndex;
    const subject = { issuer: 'https://people.example', subject: 'ann' };
    return searchAgents(
      { database, relations, index, models: countedWords(), profile: () => undefined, floor: { of: async () => 0 } },
      {
        caller: { subject, actors: [], tenant: undefined, groups: [] },
        query: 'anything',
        workspaceId,
        profile: 'terms',
        protocols: ['a2a'],
        implementationTypes: undefined,
        topK: 10,
        minScore: 0,
        call: { signal: new AbortController().signal, traceparent: '' },
      },
    );
  };

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
  });
  afterAll(() => parts.disposeAsync());

  test.each([
    ['is contested', { is_contested: true }],
    ['is no longer active', { state: 'degraded' }],
    ['moves to another workspace', { workspace: 'sales' }],
    ['changes its protocol', { protocol: 'mcp' }],
  ] as const)('an agent that %s after the index answered is not returned', async (reason, change) => {
    const sketch = await world.publish(`changed-${reason.replaceAll(' ', '-')}`);
    await world.allow('ann', 'invoke', sketch);
    const { sql } = world.database;
    const agent = await findShownAgent(sql, sketch.agentId, agentProtocols);
    if (agent === undefined) throw new TypeError('the agent is not stored');
    const found = [[{ id: `${sketch.agentId}/1`, score: 1 }]];
    expect((await search(async () => found)).map((one) => one.agent.agent_id)).toEqual([sketch.agentId]);
    const answer = await search(async () => {
      await sql.begin((transaction) => writeAgent(transaction, { ...agent, ...change }));
      return found;
    });
    expect(answer).toEqual([]);
  });

  test('a workspace in which the caller may invoke no agent is not read into the index', async () => {
    const [own, hidden] = await Promise.all([
      world.publish('own', { workspace: 'open' }),
      world.publish('hidden', { workspace: 'closed' }),
    ]);
    await world.allow('ann', 'invoke', own);
    await world.allow('bob', 'invoke', hidden);
    const asked: string[] = [];
    const index: SearchIndex['candidates'] = async ({ partition }) => {
      asked.push(partition);
      return [[]];
    };
    for (const workspace of ['open', 'closed', 'none']) expect(await search(index, workspace)).toEqual([]);
    expect(asked).toEqual(['open']);
  });
});
