import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openManagementWorld } from './open-management-world.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a database that is lost with its pod'), () => {
  test('an emptied database ends the process, and the next start restores schema and administrators', async () => {
    await using world = await openManagementWorld();
    const { api } = world;
    const { id } = await world.createPolicy('guard');
    const [replica] = api.replicas;
    const { sql } = api.database.database;
    await sql`drop schema management cascade`;
    await sql`drop schema relations cascade`;
    expect(await replica?.exit()).toBe(1);
    expect(replica?.log()).toContain('database_emptied');
    await api.startReplica(0);
    expect(await api.call(`/api/v1/guardrail-policies/${id}`)).toMatchObject({ status: 200 });
    expect(await world.savePolicy(id)).toBe(2);
  });

  test('a database that lacks tables is reported without a probe, requests are 503, and a restore repairs it', async () => {
    await using world = await openManagementWorld();
    const { api } = world;
    const { id } = await world.createPolicy('guard');
    const [replica] = api.replicas;
    const readyz = async () => (await fetch(new URL('/readyz', String(replica?.ready['admin'])))).status;
    const { sql } = api.database.database;
    expect(await readyz()).toBe(200);
    await sql`alter schema relations rename to lost`;
    await sql`alter table management.freezes rename to lost_freezes`;
    const line = '"tables":"management.freezes relations.migrations relations.tuples"';
    await until('the tables are in the log', () => replica?.log().includes(line) === true);
    expect(await readyz()).toBe(503);
    const read = await api.call(`/api/v1/guardrail-policies/${id}`);
    expect([read.status, read.json.error.code]).toEqual([503, 'authorization_unavailable']);
    const cause = await until('the cause is in the log', () =>
      replica
        ?.log()
        .split('\n')
        .find((one) => one.includes('dependency_failed') && one.includes(read.json.error.traceId)),
    );
    expect(cause).toContain('the store of relations does not answer: 42P01 (relations_unavailable)');
    await sql`alter schema lost rename to relations`;
    const freezes = await api.call('/api/v1/freezes');
    expect([freezes.status, freezes.json.error.code]).toEqual([503, 'records_unavailable']);
    await sql`alter table management.lost_freezes rename to freezes`;
    await until('the replica is ready', async () => (await readyz()) === 200);
    await until('the repair is in the log', () => replica?.log().includes('database_complete') === true);
    expect(await world.savePolicy(id)).toBe(2);
  });
});
