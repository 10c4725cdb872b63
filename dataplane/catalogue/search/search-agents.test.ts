import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentProtocols } from '#contracts/catalogue';
import { until } from '#kit/testing/until';
import type { EmbeddingProfile } from '#models/ports';
import type { SearchIndex } from '#search/ports';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { writeAgent } from '../feed/write-agent.ts';
import { findShownAgent } from '../records/read-agents.ts';
import { countedWords } from '../testing/counted-words.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import { partitionOf } from './agent-source.ts';
import { searchAgents } from './search-agents.ts';

const profile: EmbeddingProfile = {
  ...{ id: 'words', model: 'words', dimension: 64, sendDimension: false, batch: 64, maxTokens: 512 },
  ...{ queryPrefix: '', passagePrefix: '' },
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('a search during changes'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  const search = (candidates: SearchIndex['candidates'], workspaceId = 'support', { floor = 0, minScore = 0 } = {}) => {
    const { database, relations } = world;
    // A search uses only this member of the index.
    const index = { candidates } as SearchIndex;
    const subject = { issuer: 'https://people.example', subject: 'ann' };
    return searchAgents(
      { database, relations, index, models: countedWords(), profile: () => profile, floor: { of: async () => floor } },
      {
        caller: { subject, actors: [], tenant: undefined, groups: [] },
        query: 'anything',
        workspaceId,
        profile: 'hybrid',
        protocols: ['a2a'],
        implementationTypes: undefined,
        topK: 10,
        minScore,
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
    const shown = await findShownAgent(sql, sketch.agentId, agentProtocols);
    if (shown === undefined) throw new TypeError('the agent is not stored');
    const { is_current: _isCurrent, ...agent } = shown;
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
    expect(asked).toEqual([partitionOf('open', profile)]);
  });

  test('a vector counts above the floor of its profile and not at it, and minScore keeps agents with exactly that score', async () => {
    const [words, near, far] = [
      await world.publish('by-words'),
      await world.publish('by-vector'),
      await world.publish('at-the-floor'),
    ];
    await world.allow('ann', 'invoke', words, near, far);
    const entry = (sketch: { readonly agentId: string }, score: number) => ({ id: `${sketch.agentId}/1`, score });
    const floor = 0.5;
    const ranked = async () => [
      [entry(words, 3)],
      [entry(near, floor + Number.EPSILON), entry(far, floor), entry(words, floor - Number.EPSILON)],
    ];
    const found = async (minScore: number) =>
      (await search(ranked, 'support', { floor, minScore })).map(({ agent, score }) => [agent.agent_id, score]);
    // With two rankings, the first entry of one has half of the highest score; ties are ordered by id.
    const related = [words.agentId, near.agentId].toSorted().map((id) => [id, 0.5]);
    expect(await found(0)).toEqual(related);
    expect(await found(Number.MIN_VALUE)).toEqual(related);
    expect(await found(0.5)).toEqual(related);
    expect(await found(0.5 + Number.EPSILON)).toEqual([]);
  });

  test('a change that moves an agent locks both workspaces by name, so that it does not deadlock with a batch over them', async () => {
    const { agentId } = await world.publish('mover');
    const { database } = world;
    const shown = await findShownAgent(database.sql, agentId, agentProtocols);
    if (shown === undefined) throw new TypeError('the agent is not stored');
    const { is_current: _isCurrent, ...agent } = shown;
    await database.sql`insert into catalogue.workspaces (workspace, change_no) values ('accounts', 1)`;
    let moving: Promise<boolean> | undefined;
    await database.sql.beginOnce(async (sql) => {
      await sql`select from catalogue.workspaces where workspace = 'accounts' for update`;
      moving = database.sql.beginOnce((other) => writeAgent(other, { ...agent, workspace: 'accounts' }));
      moving.catch(() => undefined);
      await until('the change waits for a lock', async () => {
        const waiting = await database.sql`
          select from pg_locks
          where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`;
        return waiting.length > 0;
      });
      await sql`select from catalogue.workspaces where workspace = 'support' for update`;
    });
    expect(await moving).toBe(true);
    const entries = await database.sql<{ workspace: string; is_listed: boolean }[]>`
      select workspace, is_listed from catalogue.entries where agent_id = ${agentId}::uuid order by workspace`;
    expect(entries).toEqual([
      { workspace: 'accounts', is_listed: true },
      { workspace: 'support', is_listed: false },
    ]);
  });
});
