import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import { relayEvents } from './relay-events.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the outbox of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  /** An event of an agent that has no other one. */
  const insert = async (agentId: string, age = '0 days'): Promise<void> => {
    await world.database.sql`
      insert into catalogue.outbox (event_id, agent_id, event_no, type, occurred_at)
      values (${randomUUID()}::uuid, ${agentId}::uuid, 1, 'agent.removed', clock_timestamp() - ${age}::interval)`;
  };
  const kept = async (): Promise<readonly string[]> => {
    const rows = await world.database.sql<{ agent_id: string }[]>`select agent_id from catalogue.outbox`;
    return rows.map(({ agent_id: id }) => id);
  };

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
  });
  afterEach(() => world.database.sql`delete from catalogue.outbox`);
  afterAll(() => parts.disposeAsync());

  verifies(['catalogue:events:outbox-relay'], 'without a receiver an event is kept for seven days', async () => {
    const [recent, old] = [randomUUID(), randomUUID()];
    await insert(recent, '6 days 23 hours');
    await insert(old, '7 days 1 minute');
    await until('the old event is gone', async () => !(await kept()).includes(old));
    expect(await kept()).toEqual([recent]);
  });

  verifies(
    ['catalogue:events:outbox-relay'],
    'agents whose deliveries fail again and again do not displace the events of others',
    async () => {
      const ids = Array.from({ length: 130 }, () => randomUUID()).toSorted();
      for (const id of ids) await insert(id);
      const failing = new Set<string>(ids.slice(0, 120));
      const delivered: string[] = [];
      await using _relay = relayEvents({
        database: world.database,
        receiver: {
          async deliver({ subject }) {
            await wait(1);
            if (failing.has(subject)) return 'failed';
            delivered.push(subject);
            return 'delivered';
          },
          async [Symbol.asyncDispose]() {},
        },
        source: '/test',
        logger: createLogger({ service: 'test', level: 'error' }),
        onEnd: () => undefined,
        pollMs: 10,
        firstPauseSeconds: 0,
      });
      await until('the events of the others are delivered', () => delivered.length === 10);
      expect(delivered.toSorted()).toEqual(ids.slice(120));
    },
  );
});
