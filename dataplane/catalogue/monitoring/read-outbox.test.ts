import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import { readOutbox } from './read-outbox.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the outbox in a scrape'), () => {
  let world: CatalogueWorld;
  const insert = (count: number, delivered: boolean, parked: boolean, waits = 0) =>
    world.database.sql`
      insert into catalogue.outbox (event_id, agent_id, event_no, type, open_since, delivered_at, parked_at)
      select gen_random_uuid(), gen_random_uuid(), 1, 'agent.removed', clock_timestamp() - make_interval(secs => ${waits}),
        case when ${delivered} then clock_timestamp() end, case when ${parked} then clock_timestamp() end
      from generate_series(1, ${count}::int)`;

  beforeAll(async () => {
    world = await openCatalogue();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('open and parked events are counted, and delivered events are not', async () => {
    expect(await readOutbox(world.database.sql)).toEqual({ open: 0, oldestSeconds: 0, parked: 0 });
    await insert(3, false, false, 5_000);
    await insert(2, false, true, 9_000);
    await insert(4, true, false, 9_000);
    // Another relay delivered this event after it was parked.
    await insert(1, true, true);
    const { open, oldestSeconds, parked } = await readOutbox(world.database.sql);
    expect([open, parked]).toEqual([3, 2]);
    expect(oldestSeconds).toBeGreaterThanOrEqual(5_000);
    expect(oldestSeconds).toBeLessThan(9_000);
  });

  test('a scrape reads no delivered event', async () => {
    const { sql } = world.database;
    await insert(5_000, true, false);
    await sql`analyze catalogue.outbox`;
    for (const [index, condition] of [
      ['outbox_parked', sql`parked_at is not null and delivered_at is null`],
      ['outbox_open', sql`delivered_at is null and parked_at is null`],
    ] as const) {
      const plan = await sql<{ 'QUERY PLAN': string }[]>`explain select from catalogue.outbox where ${condition}`;
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toContain(index);
      expect(text).not.toContain('Seq Scan');
    }
  });
});
