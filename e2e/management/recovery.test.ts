import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuardrailPolicy } from '#crds/guardrail-policy';
import { kinds } from '#crds/kinds';
import type { PolicyRevision } from '#crds/policy-revision';
import { missingPostgres } from '#sql/testing/test-server';
import { changeToken, newPolicyObject, newPolicySpec } from '../../operator/management/policies/make-policy.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { until } from '../support/until.ts';
import { onResourceServers } from './on-resource-servers.ts';
import { type ManagementWorld, openWorld } from './open-world.ts';
import { newKey } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

onResourceServers('commands that their process did not end', (open) => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await open();
  }, 120_000);
  afterAll(() => world[Symbol.asyncDispose]());

  type Row = {
    readonly operationId: string;
    readonly policyId: string;
    readonly write: Readonly<Record<string, unknown>>;
    readonly kind: string;
    readonly ageMinutes?: number;
    readonly accepted?: { readonly uid: string; readonly generation: number };
  };

  let counter = 0;
  const newId = (): string => `01900000-0000-7000-8000-${String(++counter).padStart(12, '0')}`;

  /** A row as a process leaves it that is killed between the row and its answer. */
  async function leave(row: Row): Promise<string> {
    const { sql } = world.api.database.database;
    const { operationId, policyId, write, kind, ageMinutes = 0, accepted } = row;
    const key = newKey();
    await sql`
      insert into management.operations
        (operation_id, kind, state, target_type, target_id, trace_id, write, accepted, written_uid, written_generation,
         leased_until, created_at, updated_at)
      values (${operationId}, ${kind}, ${accepted === undefined ? 'pending' : 'running'}, 'policy', ${policyId},
        ${'0'.repeat(32)}, ${JSON.stringify(write)}, ${accepted !== undefined}, ${accepted?.uid ?? null},
        ${accepted?.generation ?? null}, now() - interval '1 second',
        now() - ${ageMinutes} * interval '1 minute', now())`;
    await sql`
      insert into management.idempotency_keys (subject, key, fingerprint, operation_id, created_at)
      values ('user:http%3A//issuer.test|root-admin', ${key}, 'none', ${operationId}, now())`;
    return key;
  }

  const ended = (operationId: string) =>
    until(`the operation ${operationId} is final`, async () => {
      const { json } = await world.api.call(`/api/v1/operations/${operationId}`);
      return json.state === 'succeeded' || json.state === 'failed' ? json : undefined;
    });

  const keyIsHeld = async (key: string): Promise<boolean> =>
    (await world.api.database.database.sql`select from management.idempotency_keys where key = ${key}`).length > 0;

  function create(name: string) {
    const operationId = newId();
    const policyId = newId();
    const spec = newPolicySpec({ name, description: '', definition: definitionOf(name) }, operationId);
    const write = { type: 'create_policy', objectName: `p-${policyId}`, spec };
    return { operationId, policyId, write, spec, kind: 'policy.create' };
  }

  test('one that was killed before its write is carried out, once', async () => {
    const row = create('before-its-write');
    await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { revision: 1 } });
    expect((await world.readPolicy(row.policyId)).policy.name).toBe('before-its-write');
  });

  test('one that was killed after its write is found by its id', async () => {
    const row = create('after-its-write');
    await world.client.create(kinds.guardrailPolicy, newPolicyObject(row.policyId, row.spec));
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded', result: { revision: 1 } });
    expect(await keyIsHeld(key)).toBe(true);
  });

  test('one that is older than fifteen minutes is not sent again, and its key is free', async () => {
    const row = { ...create('too-old'), ageMinutes: 16 };
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect((await world.api.call(`${list}/${row.policyId}`)).status).toBe(404);
    expect(await keyIsHeld(key)).toBe(false);
    const young = { ...create('young-enough'), ageMinutes: 14 };
    await leave(young);
    expect(await ended(young.operationId)).toMatchObject({ state: 'succeeded' });
  });

  async function replaceOf(policyId: string) {
    const object = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, `p-${policyId}`);
    if (object === undefined) throw new Error('there is no such policy');
    const { uid, generation, name } = object.metadata;
    const operationId = newId();
    const spec = { ...object.spec, description: operationId, change: changeToken(operationId, generation + 1) };
    const write = { type: 'replace_policy', objectName: name, uid, generation, spec };
    return { operationId, policyId, write, spec, kind: 'policy.update', uid, generation };
  }

  test('one whose policy was changed meanwhile is refused for good', async () => {
    const { id } = await world.createPolicy('changed-meanwhile');
    const row = await replaceOf(id);
    await world.savePolicy(id);
    const key = await leave(row);
    expect(await ended(row.operationId)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect(await keyIsHeld(key)).toBe(false);
    expect((await world.readPolicy(id)).policy).toMatchObject({ revision: 2, description: '' });
  });

  test('a write that was edited over before it was recorded still becomes a revision, from its row', async () => {
    const { id } = await world.createPolicy('edited-over');
    const row = await replaceOf(id);
    await leave({ ...row, accepted: { uid: row.uid, generation: 2 } });
    const { client } = world;
    await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, `p-${id}`, [
      { op: 'test', path: '/metadata/generation', value: 1 },
      { op: 'replace', path: '/spec', value: row.spec },
    ]);
    await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, `p-${id}`, [
      { op: 'replace', path: '/spec/description', value: 'by hand' },
    ]);
    expect(await ended(row.operationId)).toMatchObject({ state: 'succeeded' });
    const revisions = await until('both are recorded', async () => {
      const { items } = await client.list<PolicyRevision>(kinds.policyRevision, {
        labelSelector: `portcullis.dev/policy-id=${id}`,
      });
      return items.length === 3 ? items : undefined;
    });
    const texts = revisions.toSorted((a, b) => a.spec.number - b.spec.number).map(({ spec }) => spec.description);
    expect(texts).toEqual(['', row.operationId, 'by hand']);
  });
});

test.skipIf(missingPostgres !== undefined)(
  'a replica that is told to end answers what it has begun and ends with 0',
  async () => {
    await using world = await openWorld();
    const [replica] = world.api.replicas;
    const ready = await fetch(`${replica?.ready['admin']}/readyz`);
    expect([ready.status, (await fetch(`${replica?.ready['admin']}/livez`)).status]).toEqual([200, 200]);
    const metrics = await (await fetch(`${replica?.ready['admin']}/metrics`)).text();
    expect(metrics).toContain('portcullis_management_requests_total');
    const sent = world.api.command('POST', list, { name: 'last', definition: definitionOf('last') });
    await pause(5);
    const code = replica?.end();
    expect((await sent).status).toBe(202);
    expect(await code).toBe(0);
  },
  90_000,
);
