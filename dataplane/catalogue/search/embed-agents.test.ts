import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
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

  const scraped = async (name: string, label: string): Promise<number> => {
    const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{.*${label}.*\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);
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

  test('a text that always fails does not prevent the embedding of other agents, in its workspace or in others', async () => {
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

  test('a card that is too long for the model is embedded by its beginning, and gets no vector if no part is accepted', async () => {
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
      const shown = await Promise.all(
        ['missing', 'refused'].map((reason) => scraped('portcullis_catalogue_without_vector', `reason="${reason}"`)),
      );
      const [row] = await sql<{ missing: number; refused: number }[]>`
        select count(*) filter (where vector is null)::int as missing,
          count(*) filter (where octet_length(vector) = 0)::int as refused
        from catalogue.entries where is_listed`;
      return shown[0] === row?.missing && shown[1] === row?.refused && (shown[0] ?? 0) > 0 && (shown[1] ?? 0) > 0;
    });
  });

  test('a scrape counts attempts that failed, and written vectors among which are empty ones of refused texts', async () => {
    const ended = (end: string) => scraped('portcullis_catalogue_embeddings_total', `end="${end}"`);
    const { agentId } = await world.publish('stuck', { workspace: 'y', description: 'An unlucky text.' });
    const [written, failed] = [await ended('written'), await ended('failed')];
    await until('it was tried again', async () => (await ended('failed')) > failed + 1);
    expect(await vectorOf(agentId)).toBe('none');
    const shunned = await world.publish('shunned', { workspace: 'y', description: 'A forbidden text.' });
    const liked = await world.publish('liked', { workspace: 'y' });
    await until('one has an empty vector', async () => (await vectorOf(shunned.agentId)) === 'empty');
    await until('one has a vector', async () => (await vectorOf(liked.agentId)) === 'stored');
    await until('both are counted', async () => (await ended('written')) >= written + 2);
  });

  test('agents with a vector of another profile get a vector of the current profile, in whatever order the ids of the profiles are', async () => {
    const agents = await Promise.all(['earlier', 'later'].map((name) => world.publish(name, { workspace: 'x' })));
    const { sql } = world.database;
    const profiles = async () =>
      (
        await sql<
          { profile_id: string | null }[]
        >`select profile_id from catalogue.entries where workspace = 'x' order by 1`
      ).map((row) => row.profile_id);
    await until('both are embedded', async () => (await profiles()).length === 2 && !(await profiles()).includes(null));
    const [current] = await profiles();
    const former = ['a-former-one', 'zz-former-one'];
    for (const [at, { agentId }] of agents.entries()) {
      await sql`update catalogue.entries set profile_id = ${former[at] ?? ''} where agent_id = ${agentId}::uuid`;
    }
    await until('both are embedded again', async () => (await profiles()).join() === `${current},${current}`);
  });

  test('a query that is too long for the model is answered for its beginning', async () => {
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

describe.skipIf(missingPostgres !== undefined)(onPostgres('a profile whose id stays while its content changes'), () => {
  test.each([
    ['another model of the same dimension', '{ id: words, model: other, dimension: 64 }'],
    ['another dimension', '{ id: words, model: words, dimension: 32 }'],
    ['another prefix', '{ id: words, model: words, dimension: 64, passagePrefix: "passage: " }'],
  ])('with %s agents are embedded again, and until then they are found by their words', async (_what, changed) => {
    await using parts = new AsyncDisposableStack();
    const modelsFile = join(parts.use(temporaryFolder()).path, 'models.yaml');
    const write = (profile: string) => writeFileSync(modelsFile, `embedding:\n  - ${profile}\n`);
    write('{ id: words, model: words, dimension: 64 }');
    let isHeld = false;
    const models = hashedWords((texts) => {
      if (isHeld && texts.some((text) => text.includes('Forecasts of tides'))) throw new ModelsError('unavailable');
    });
    const config = { embeddingProfile: 'words', modelsFile };
    const world = parts.use(await openCatalogue({ overrides: { models }, config }));
    const agent = await world.publish('tides', { description: 'Forecasts of tides.' });
    await world.allow('ann', 'invoke', agent);
    const entry = async () => {
      const [row] = await world.database.sql<{ key: string | null; size: number | null }[]>`
        select profile_id as key, octet_length(vector) as size from catalogue.entries
        where agent_id = ${agent.agentId}::uuid`;
      return row;
    };
    const scores = async (query: string): Promise<readonly unknown[]> => {
      const body = JSON.stringify({ query, workspaceId: 'support' });
      const headers = { 'content-type': 'application/json' };
      const { status, json } = await world.ask('ann', '/api/v1/agents/search', { method: 'POST', body, headers });
      const matches = (json['matches'] ?? []) as readonly { readonly score: number }[];
      return [status, ...matches.map(({ score }) => score)];
    };
    const loaded = () => world.log().split('model_profiles_loaded').length - 1;
    await until('the agent has a vector', async () => (await entry())?.key !== null);
    const before = await entry();
    // The agent is the first result of the ranking by words and of the ranking by vectors.
    await until('it is found by its vector', async () => (await scores('tides'))[1] === 1);
    isHeld = true;
    const times = loaded();
    write(changed);
    await until('the profile has changed', () => loaded() > times);
    expect(await scores('tides')).toEqual([200, 0.5]);
    expect(await entry()).toEqual(before);
    isHeld = false;
    await until('it is found by its new vector', async () => (await scores('tides'))[1] === 1);
    const after = await entry();
    expect(after?.key).not.toBe(before?.key);
    expect(after?.size).toBe(changed.includes('32') ? 128 : 256);
  });
});
