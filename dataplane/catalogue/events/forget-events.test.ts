import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { readOutbox } from '../monitoring/read-outbox.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';
import type { EventReceiver } from './ports.ts';
import { relayEvents } from './relay-events.ts';
import { replayEvents } from './replay-events.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the outbox of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  /** An event of an agent without any other event. */
  const insert = async (agentId: string, age = '0 days', sequence = 1): Promise<void> => {
    await world.database.sql`
      insert into catalogue.outbox (event_id, agent_id, event_no, type, occurred_at)
      values (${randomUUID()}::uuid, ${agentId}::uuid, ${sequence}, 'agent.removed', clock_timestamp() - ${age}::interval)`;
  };
  const relayTo = (deliver: EventReceiver['deliver']) =>
    relayEvents({
      database: world.database,
      receiver: { deliver, async [Symbol.asyncDispose]() {} },
      source: '/test',
      logger: createLogger({ service: 'test', level: 'error' }),
      onEnd: () => undefined,
      pollMs: 10,
      firstPauseSeconds: 0,
    });
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
      await using _relay = relayTo(async ({ subject }) => {
        await wait(1);
        if (failing.has(subject)) return 'failed';
        delivered.push(subject);
        return 'delivered';
      });
      await until('the events of the others are delivered', () => delivered.length === 10);
      expect(delivered.toSorted()).toEqual(ids.slice(120));
    },
  );

  verifies(
    ['catalogue:events:outbox-relay'],
    'an event that is in delivery when a replay begins is sent again after the earlier ones',
    async () => {
      const agentId = randomUUID();
      for (const sequence of [1, 2, 3]) await insert(agentId, '0 days', sequence);
      await world.database.sql`update catalogue.outbox set delivered_at = clock_timestamp() where event_no < 3`;
      const sent: number[] = [];
      await using _relay = relayTo(async ({ sequence }) => {
        sent.push(Number(sequence));
        if (sent.length === 1) {
          await replayEvents(world.database.sql, { kind: 'agent', agentId, sequence: 1n });
        }
        return 'delivered';
      });
      await until('every event is delivered', async () => (await readOutbox(world.database.sql)).open === 0);
      expect(sent).toEqual([3, 1, 2, 3]);
    },
  );
});
