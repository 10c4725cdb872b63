import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { missingPostgres, type TestDatabase } from '#sql/testing/test-server';
import { newPolicyObject } from '../../operator/management/policies/make-policy.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf, revisionsOf } from './actions.ts';
import { applyOf, createOf, type LeftRow, leaveCommand, replaceOf, unbindOf } from './leave-command.ts';
import { onResourceServers } from './on-resource-servers.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';

const list = '/api/v1/guardrail-policies';

onResourceServers('commands that were in flight when their process was killed', (open) => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await open();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const leave = (row: LeftRow): Promise<string> => leaveCommand(world.api, row);

  const ended = (operationId: string) => world.api.endOf(operationId);

  const keyIsHeld = async (key: string): Promise<boolean> =>
    (await world.api.database.database.sql`select from management.idempotency_keys where key = ${key}`).length > 0;

  test('a policy command whose process was killed before its write is executed once', async () => {
    const row = createOf('before-its-write');
    await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { revision: 1 } });
    expect((await world.readPolicy(row.policyId)).policy.name).toBe('before-its-write');
  });

  test('a policy command whose process was killed after its write is found by its operation id', async () => {
    const row = createOf('after-its-write');
    await world.client.create(
      kinds.guardrailPolicy,
      newPolicyObject({ id: row.policyId, name: row.write.objectName }, row.spec),
    );
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { revision: 1 } });
    expect(await keyIsHeld(key)).toBe(true);
  });

  test('a stored command that cannot be read does not stop the recovery of other commands', async () => {
    const { sql } = world.api.database.database;
    const unreadable = [createOf('unreadable-write'), createOf('unreadable-origin')];
    for (const row of unreadable) await leave({ ...row, leaseSeconds: 60 });
    const [write, origin] = unreadable.map(({ operationId }) => operationId);
    await sql`update management.operations set write = 'no JSON' where operation_id = ${String(write)}`;
    await sql`update management.operations set origin = '{' where operation_id = ${String(origin)}`;
    await sql`
      update management.operations set leased_until = now() - interval '1 second'
      where operation_id in ${sql(unreadable.map(({ operationId }) => operationId))}`;
    const row = createOf('beside-unreadable');
    await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { revision: 1 } });
    const isLogged = () => world.api.replicas.some((replica) => replica.log().includes('operation_unreadable'));
    await until('the row is in the log', isLogged);
    await sql`
      delete from management.operations
      where operation_id in ${sql(unreadable.map(({ operationId }) => operationId))}`;
  });

  test('a command older than fifteen minutes is not sent again, and its idempotency key can be used again', async () => {
    const row = { ...createOf('too-old'), ageMinutes: 16 };
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect((await world.api.call(`${list}/${row.policyId}`)).status).toBe(404);
    expect(await keyIsHeld(key)).toBe(false);
    const young = { ...createOf('young-enough'), ageMinutes: 14 };
    await leave(young);
    expect(await ended(young.operationId)).toMatchObject({ state: 'succeeded' });
  });

  test('a command whose policy was changed before recovery ends as not_executed', async () => {
    const { id } = await world.createPolicy('changed-meanwhile');
    const row = await replaceOf(world.client, id);
    await world.savePolicy(id);
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect(await keyIsHeld(key)).toBe(false);
    expect((await world.readPolicy(id)).policy).toMatchObject({ revision: 2, description: '' });
  });

  async function openApplication(name: string) {
    const { id } = await world.createPolicy(name);
    const modelId = await world.createModel(name);
    const row = applyOf(await world.binding(name), id, await policyNameOf(world.client, id));
    return { modelId, row, generation: (await world.binding(name)).metadata.generation };
  }

  test('an application whose process was killed before its write is executed once', async () => {
    const { modelId, row, generation } = await openApplication('applied-later');
    await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { modelId, policyRevision: 1 } });
    expect((await world.binding('applied-later')).metadata.generation).toBe(generation + 1);
  });

  test('an application whose process was killed after its write is found by its id, even after a later application', async () => {
    const { modelId, row, generation } = await openApplication('applied-already');
    await world.client.patch(kinds.modelBinding, 'applied-already', [
      { op: 'replace', path: '/spec/guardrail', value: row.guardrail },
      { op: 'add', path: '/spec/apply', value: row.operationId },
    ]);
    await world.untilState(modelId, 'applied');
    await world.applied(modelId, null, null);
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { modelId, policyRevision: 1 } });
    expect(await keyIsHeld(key)).toBe(true);
    expect((await world.binding('applied-already')).metadata.generation).toBe(generation + 2);
    expect((await world.readBinding(modelId)).json.state).toBe('unbound');
  });

  test('an unbind that is older than a minute is not sent by recovery, and the guardrail stays; a younger one is', async () => {
    const { id } = await world.createPolicy('unbound-late');
    const modelId = await world.createModel('unbound-late');
    await world.applied(modelId, id, 1);
    await world.untilState(modelId, 'applied');
    const stateOf = async () => (await world.readBinding(modelId)).json.state;
    const late = { ...unbindOf(await world.binding('unbound-late')), ageMinutes: 1.05 };
    await leave(late);
    expect(await ended(late.operationId)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect(await stateOf()).toBe('applied');
    const early = { ...unbindOf(await world.binding('unbound-late')), ageMinutes: 0.5 };
    await leave(early);
    expect(await ended(early.operationId)).toMatchObject({ state: 'succeeded' });
    expect(await stateOf()).toBe('unbound');
  });

  test('an application whose model was changed before recovery ends as not_executed', async () => {
    const { modelId, row } = await openApplication('applied-never');
    await world.applied(modelId, null, null);
    await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect((await world.readBinding(modelId)).json.state).toBe('unbound');
  });

  test('a write that was edited before it was recorded is recorded as a revision from its database row', async () => {
    const { id } = await world.createPolicy('edited-over');
    const row = await replaceOf(world.client, id);
    await leave({ ...row, accepted: { uid: row.uid, generation: 2 } });
    const { client } = world;
    const name = await policyNameOf(client, id);
    await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, name, [
      { op: 'test', path: '/metadata/generation', value: 1 },
      { op: 'replace', path: '/spec', value: row.spec },
    ]);
    await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, name, [
      { op: 'replace', path: '/spec/description', value: 'by hand' },
    ]);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded' });
    const revisions = await until('both revisions are recorded', async () => {
      const recorded = await revisionsOf(client, id);
      return recorded.length === 3 ? recorded : undefined;
    });
    const texts = revisions.map(({ spec }) => spec.description);
    expect(texts).toEqual(['', row.operationId, 'by hand']);
  });
});

test.skipIf(missingPostgres !== undefined)(
  'a replica of the management API answers commands in flight after SIGTERM and exits with 0',
  async () => {
    await using world = await openManagementWorld();
    const [replica] = world.api.replicas;
    const ready = await fetch(`${replica?.ready['admin']}/readyz`);
    expect([ready.status, (await fetch(`${replica?.ready['admin']}/livez`)).status]).toEqual([200, 200]);
    const metrics = await (await fetch(`${replica?.ready['admin']}/metrics`)).text();
    expect(metrics).toContain('portcullis_management_requests_total');
    const held = await holdCommands(world.api.database);
    const sent = world.api.command('POST', list, { name: 'last', definition: definitionOf('last') });
    await held.reached();
    const code = replica?.end();
    await until('the replica refuses connections', async () => {
      const looked = await fetch(`${replica?.ready['admin']}/readyz`).catch(() => undefined);
      return looked?.status !== 200;
    });
    await held.letGo();
    expect((await sent).status).toBe(202);
    expect(await code).toBe(0);
  },
);

/** Blocks inserts of new commands until disposed. */
async function holdCommands({ database, connect }: TestDatabase) {
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const holder = connect();
  const holding = holder.sql.begin(async (transaction) => {
    await transaction`lock table management.operations in share mode`;
    locked.resolve();
    await over.promise;
  });
  holding.catch(locked.reject);
  await locked.promise;
  return {
    /** Waits until a process is about to insert a row. */
    reached: () =>
      until('a command has begun', async () => {
        const waiting = await database.sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query ilike '%insert into management.operations%'`;
        return waiting.length > 0;
      }),
    async letGo() {
      over.resolve();
      await holding;
      await holder[Symbol.asyncDispose]();
    },
  };
}
