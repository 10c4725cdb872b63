import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

/** UTF-16 units of the longest text that the model accepts. */
const mostUnits = 400;

describe.skipIf(missingPostgres !== undefined)(onPostgres('vectors of agents'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  const vectorOf = async (agentId: string): Promise<'none' | 'empty' | 'stored'> => {
    const [row] = await world.database.sql<{ size: number | null }[]>`
      select octet_length(vector) as size from catalogue.entries where agent_id = ${agentId}::uuid`;
    if (row === undefined || row.size === null) return 'none';
    return row.size === 0 ? 'empty' : 'stored';
  };

  beforeAll(async () => {
    const models = hashedWords((texts) => {
      if (texts.some((text) => text.includes('unlucky'))) throw new ModelsError('unavailable');
      if (texts.some((text) => text.includes('forbidden'))) throw new ModelsError('denied');
      if (texts.some((text) => text.length > mostUnits || text.includes('unreadable')))
        throw new ModelsError('refused');
    });
    world = parts.use(await openCatalogue({ overrides: { models }, config: { embeddingProfile: 'words' } }));
  });
  afterAll(() => parts.disposeAsync());

  test('a text that always fails keeps no other agent from its vector, in its workspace and in later ones', async () => {
    const unlucky = await Promise.all(
      ['first', 'second'].map((name) => world.publish(name, { workspace: 'a', description: 'An unlucky text.' })),
    );
    const others = await Promise.all(
      ['third', 'fourth', 'fifth'].map((name) => world.publish(name, { workspace: name === 'fifth' ? 'b' : 'a' })),
    );
    await until('the others have vectors', async () => {
      const states = await Promise.all(others.map(({ agentId }) => vectorOf(agentId)));
      return states.every((state) => state === 'stored');
    });
    expect(await Promise.all(unlucky.map(({ agentId }) => vectorOf(agentId)))).toEqual(['none', 'none']);
  });

  test('of a card that is too long for the model the beginning is embedded, and none of a card that no part is accepted of', async () => {
    const long = await world.publish('long', { description: `Forecasts of tides. ${'More words. '.repeat(150)}` });
    const [denied, refused] = await Promise.all([
      world.publish('denied', { description: 'A forbidden text.' }),
      world.publish('refused', { description: 'An unreadable text.' }),
    ]);
    await until('the long card has a vector', async () => (await vectorOf(long.agentId)) === 'stored');
    await until('a card without a vector is marked', async () => (await vectorOf(denied.agentId)) === 'empty');
    await until('a card without a vector is marked', async () => (await vectorOf(refused.agentId)) === 'empty');
  });

  test('a scrape counts agents whose vector is missing and those whose text is refused', async () => {
    const { agentId } = await world.publish('pending', { workspace: 'z', description: 'An unlucky text.' });
    await world.publish('banned', { workspace: 'z', description: 'A forbidden text.' });
    expect(await vectorOf(agentId)).toBe('none');
    const { sql } = world.database;
    await until('the metrics are those of the table', async () => {
      const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
      const shown = ['missing', 'refused'].map((reason) =>
        Number(
          new RegExp(`^portcullis_catalogue_without_vector\\{.*reason="${reason}".*\\} (\\d+)$`, 'm').exec(
            metrics,
          )?.[1],
        ),
      );
      const [row] = await sql<{ missing: number; refused: number }[]>`
        select count(*) filter (where vector is null)::int as missing,
          count(*) filter (where octet_length(vector) = 0)::int as refused
        from catalogue.entries where is_listed`;
      return shown[0] === row?.missing && shown[1] === row?.refused && (shown[0] ?? 0) > 0 && (shown[1] ?? 0) > 0;
    });
  });

  test('a query that is too long for the model is answered by its beginning', async () => {
    const agent = await world.publish('tides', { workspace: 'coast', description: 'Forecasts of tides.' });
    await world.allow('ann', 'invoke', agent);
    await until('the agent has a vector', async () => (await vectorOf(agent.agentId)) === 'stored');
    const ask = (query: string) =>
      world.ask('ann', '/api/v1/agents/search', {
        method: 'POST',
        body: JSON.stringify({ query, workspaceId: 'coast' }),
        headers: { 'content-type': 'application/json' },
      });
    const long = await ask(`Forecasts of tides ${'😀'.repeat(990)}`);
    expect([long.status, (long.json['matches'] as readonly unknown[]).length]).toEqual([200, 1]);
    expect((await ask('an unreadable query')).json['error']).toMatchObject({ code: 'invalid_request' });
  });
});
