import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openManagementWorld } from './open-management-world.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a database that is lost with its pod'), () => {
  test('an emptied database ends the process, and the next start restores schema and administrators', async () => {
    await using world = await openManagementWorld();
    const { api } = world;
    const { id } = await world.createPolicy('guard');
    const [replica] = api.replicas;
    const readyz = () => fetch(new URL('/readyz', String(replica?.ready['admin'])));
    expect((await readyz()).status).toBe(200);
    const { sql } = api.database.database;
    await sql`drop schema management cascade`;
    await sql`drop schema relations cascade`;
    await readyz().catch(() => undefined);
    expect(await replica?.exit()).toBe(1);
    expect(replica?.log()).toContain('database_emptied');
    await api.startReplica(0);
    expect(await api.call(`/api/v1/guardrail-policies/${id}`)).toMatchObject({ status: 200 });
    expect(await world.savePolicy(id)).toBe(2);
  });
});
