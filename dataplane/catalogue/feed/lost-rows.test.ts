import { describe, expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import { createClient } from '#kube/client/client';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { openCatalogue } from '../testing/open-catalogue.ts';
import { startCatalogue } from '../testing/start-catalogue.ts';
import { followAgents } from './follow-agents.ts';
import { unguardedCards } from './judge-card.ts';

const oldText = 'An old description.';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a database of the catalogue that loses rows'), () => {
  test('every ten minutes all agents are compared with their rows, even without a change of a resource', async () => {
    const time = createFakeClock();
    const clock = { now: time.now, date: () => new Date() };
    await using world = await openCatalogue({ overrides: { clock } });
    const [kept, gone, lost] = [await world.publish('kept'), await world.publish('gone'), await world.publish('lost')];
    world.resources.remove('agents', 'gone');
    await until('the agent is removed', async () => (await world.stored(gone)) === 'removed');
    const { sql } = world.database;
    const descriptionOf = async (resource: string): Promise<unknown> => {
      const [row] = await sql`select description from catalogue.agents where resource = ${resource}`;
      return row?.['description'];
    };
    const before = await descriptionOf('kept');

    // A copy from before the last changes takes the place of the database.
    await sql`update catalogue.agents set description = ${oldText} where resource = 'kept'`;
    await sql`update catalogue.agents set state = 'active' where resource = 'gone'`;
    await sql`delete from catalogue.outbox where agent_id = ${lost.agentId}::uuid`;
    await sql`delete from catalogue.agents where resource = 'lost'`;
    time.advance(599_999);
    await world.publish('another');
    expect([await descriptionOf('kept'), await world.stored(gone), await world.stored(lost)]).toEqual([
      oldText,
      'active',
      undefined,
    ]);

    time.advance(1);
    await until('the rows are as the resources', async () => {
      const states = [await world.stored(kept), await world.stored(gone), await world.stored(lost)];
      return states.join() === 'active,removed,active' && (await descriptionOf('kept')) === before;
    });
  });

  test('a change waits for a few of the compared agents and not for all of them, and an unchanged degraded agent is not read', async () => {
    await using parts = new AsyncDisposableStack();
    const resources = parts.use(await startFakeApiServer());
    const files = parts.use(await openTestDatabase());
    const { sql } = files.database;
    const names = Array.from({ length: 6 }, (_, at) => `agent-${at}`);
    {
      await using former = await startCatalogue(files, { resources });
      const away = await former.publish('away', { isReady: false, since: new Date(Date.now() - 60_000) });
      await until('it is degraded', async () => (await former.stored(away)) === 'degraded');
      for (const name of [...names, 'late']) await former.publish(name);
    }
    const before = resources.seen.length;
    const time = createFakeClock();
    const credentials = { authorization: () => 'Bearer token' };
    const feed = parts.use(
      followAgents({
        client: parts.use(createClient({ url: resources.url, credentials, namespace: 'default' })),
        database: files.database,
        logger: createLogger({ service: 'catalogue', level: 'error', destination: { write: () => undefined } }),
        clock: { now: time.now, date: () => new Date() },
        cards: unguardedCards,
        acceptsMassRemoval: false,
        onChange: () => undefined,
        pollMs: 20,
        comparedAtOnce: 2,
      }),
    );
    await until('the agents are current', () => feed.ageMs() === 0);
    await sql`update catalogue.agents set description = ${oldText} where resource = any(${sql.array(names)}::text[])`;
    const held = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = sql.begin(async (own) => {
      await own`select 1 from catalogue.agents where resource = any(${own.array(names)}::text[]) for update`;
      isHeld.resolve();
      await held.promise;
    });
    await isHeld.promise;
    time.advance(600_000);
    await until('the comparison waits for the first row', async () => {
      const [row] = await sql`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return row?.['waiting'] > 0;
    });
    const pending = feed.pending();
    resources.change('agents', 'late', (object) => {
      Object.assign(object, { spec: { ...(object['spec'] as object), workspace: 'elsewhere' } });
    });
    await until('the change is seen', () => feed.pending() > pending);
    held.resolve();
    await holding;
    const written = async () =>
      (
        await sql<{ resource: string }[]>`
          select resource from catalogue.agents where description <> ${oldText} and resource <> 'away' and (resource <> 'late' or workspace = 'elsewhere')
          order by updated_at`
      ).map(({ resource }) => resource);
    await until('all are compared', async () => (await written()).length === 7);
    const order = await written();
    expect(order.toSorted()).toEqual([...names, 'late']);
    expect(order.indexOf('late')).toBeLessThanOrEqual(2);
    expect(resources.seen.slice(before).filter((one) => one.endsWith('/agentversions/away-1'))).toEqual([]);
  });
});
