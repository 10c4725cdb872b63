import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { claimEvent } from './claim-event.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('claims of events'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory({ config: { role: 'api', embeddingProfile: undefined } });
  });
  afterAll(() => memory?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await memory.database.database.sql`delete from memory.events`;
  });

  /** Adds so many memories of a person, whose run is the name and the number. */
  async function add(tenant: string, user: string, count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      const body = { messages: [{ role: 'user', content: 'I live in Porto.' }], run_id: `${user}-${at}` };
      expect((await memory.call({ tenant, user }, 'POST', '/v1/memories', body)).status).toBe(202);
    }
  }
  const claimed = async (count: number): Promise<readonly string[]> => {
    const runs: string[] = [];
    for (let at = 0; at < count; at += 1) {
      runs.push((await claimEvent(memory.database.database.sql, 60_000))?.runId ?? 'none');
    }
    return runs;
  };
  const end = (...runs: readonly string[]) =>
    memory.database.database.sql`
      update memory.events set status = 'SUCCEEDED', messages = null
      where run_id in ${memory.database.database.sql(runs)}`;

  test('the tenant with the fewest events in progress is next, however many earlier events another tenant has', async () => {
    for (const user of ['a', 'b', 'c', 'd']) await add('first', user, 5);
    await add('second', 'y', 2);
    await add('second', 'z', 2);
    expect((await claimed(2)).toSorted()).toEqual(['a-0', 'y-0']);
    expect((await claimed(2)).toSorted()).toEqual(['b-0', 'z-0']);
    expect(await claimed(3)).toEqual(['c-0', 'd-0', 'none']);
    await end('y-0');
    expect(await claimed(2)).toEqual(['y-1', 'none']);
  });

  test('an add that a replica of an earlier release stores without a tenant is claimed, and then the later adds of its person', async () => {
    await add('first', 'a', 1);
    await end('a-0');
    await memory.database.database.sql`
      insert into memory.events (event_id, person, run_id, infer, messages, digest, trace_id)
      select gen_random_uuid(), person, 'of-earlier-release', true, '[]'::jsonb, 'digest', 'trace'
      from memory.events where run_id = 'a-0'`;
    await add('first', 'a', 1);
    expect(await claimed(2)).toEqual(['of-earlier-release', 'none']);
    await end('of-earlier-release');
    expect(await claimed(1)).toEqual(['a-0']);
  });

  test('a tenant waits for a few events of a tenant whose queue is older and whose turns are lower', async () => {
    for (let at = 0; at < 40; at += 1) await add('first', `a${at}`, 2);
    await add('second', 'b', 3);
    await end('b-0', 'b-1');
    let attempts = 1;
    for (let run = ''; attempts <= 60; attempts += 1) {
      [run = ''] = await claimed(1);
      if (run === 'b-2') break;
      await end(run);
    }
    expect(attempts).toBeLessThan(60);
  });

  test('persons of one tenant take turns: a person with one event does not wait for the queue of another person', async () => {
    await add('first', 'a', 20);
    await add('first', 'b', 20);
    expect(await claimed(3)).toEqual(['a-0', 'b-0', 'none']);
    await end('a-0', 'b-0');
    expect(await claimed(1)).toEqual(['a-1']);
    await add('first', 'late', 2);
    await end('a-1');
    expect(await claimed(3)).toEqual(['b-1', 'late-0', 'a-2']);
    await end('b-1', 'late-0', 'a-2');
    expect(await claimed(3)).toEqual(['b-2', 'late-1', 'a-3']);
  });

  test('a person who adds again after the queue has ended has no advantage and no delay', async () => {
    await add('first', 'a', 3);
    await end('a-0', 'a-1', 'a-2');
    await add('first', 'b', 2);
    await add('first', 'a', 1);
    expect(await claimed(3)).toEqual(['b-0', 'a-0', 'none']);
  });

  test('claims at the same moment get events of different persons', async () => {
    for (let at = 0; at < 20; at += 1) await add('first', `u${at}`, 2);
    const events = await Promise.all(
      Array.from({ length: 20 }, () => claimEvent(memory.database.database.sql, 60_000)),
    );
    const runs = [...events.map((event) => event?.runId), ...(await claimed(20))].filter(
      (run) => run !== undefined && run !== 'none',
    );
    expect([...runs].sort()).toEqual(Array.from({ length: 20 }, (_, at) => `u${at}-0`).sort());
  });

  test('a claim reads a few rows for each tenant, and not the queue', async () => {
    const { database } = memory.database;
    await add('first', 'a', 1);
    await add('second', 'b', 1);
    await database.sql`
      insert into memory.events (event_id, person, tenant, run_id, infer, messages, digest, trace_id, turn)
      select gen_random_uuid(), person, tenant, run_id || '-' || n, infer, messages, digest, trace_id, n
      from memory.events, generate_series(1, 5000) n`;
    await database.sql`analyze memory.events`;
    const { answer, read } = await readingRows(database, 'memory.events', (sql) => claimEvent(sql, 60_000));
    expect(['a-0', 'b-0']).toContain(answer?.runId);
    expect(read).toBeLessThan(400);
  });
});
