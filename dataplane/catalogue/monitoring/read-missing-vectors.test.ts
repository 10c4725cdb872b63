import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import { mostAgentsCounted, readMissingVectors } from './read-missing-vectors.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('agents without a vector'), () => {
  let world: CatalogueWorld;
  const insert = (count: number, vector: Buffer | null, profile: string | null, isListed = true) =>
    world.database.sql`
      insert into catalogue.entries (workspace, agent_id, is_listed, protocol, implementation_type, passage, terms, vector,
        profile_id, change_no)
      select 'support', gen_random_uuid(), ${isListed}, 'a2a', 'sdk', 'text', '', ${vector}::bytea, ${profile}, 1
      from generate_series(1, ${count}::int)`;
  const counted = async (profile: string | undefined) => {
    const { missing, refused } = await readMissingVectors(world.database.sql, profile);
    return [missing, refused];
  };

  beforeAll(async () => {
    world = await openCatalogue();
    await world.database.sql`insert into catalogue.workspaces (workspace, change_no) values ('support', 1)`;
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('agents without a vector, with a vector of another profile and with a refused text are counted up to the limit', async () => {
    await insert(5, Buffer.alloc(256), 'words');
    await insert(3, null, null);
    await insert(2, Buffer.alloc(256), 'former');
    await insert(1, Buffer.alloc(0), 'words');
    await insert(4, null, null, false);
    await insert(4, Buffer.alloc(0), 'words', false);
    expect(await counted('words')).toEqual([5, 1]);
    expect(await counted('former')).toEqual([9, 0]);
    expect(await counted(undefined)).toEqual([0, 0]);
    await insert(mostAgentsCounted - 6, null, null);
    await insert(mostAgentsCounted - 2, Buffer.alloc(0), 'words');
    expect(await counted('words')).toEqual([mostAgentsCounted - 1, mostAgentsCounted - 1]);
    await insert(2, null, null);
    await insert(2, Buffer.alloc(0), 'words');
    expect(await counted('words')).toEqual([mostAgentsCounted, mostAgentsCounted]);
  });

  test('a scrape reads no agent with a vector of the profile', async () => {
    const { sql } = world.database;
    await sql`delete from catalogue.entries where vector is null or octet_length(vector) = 0`;
    await insert(5_000, Buffer.alloc(256), 'words');
    await sql`analyze catalogue.entries`;
    const plan = await sql<{ 'QUERY PLAN': string }[]>`
      explain select from catalogue.entries where is_listed and vector is not null and profile_id > 'words' limit 10000`;
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('entries_by_profile');
    expect(text).not.toContain('Seq Scan');
    expect(await counted('words')).toEqual([2, 0]);
  });
});
