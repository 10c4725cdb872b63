import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';

const policies = '/api/v1/guardrail-policies';
const limits = { PORTCULLIS_MAX_POLICIES: '2', PORTCULLIS_MAX_REVISIONS: '4', PORTCULLIS_MAX_REVISION_MIB: '1' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('quotas of policies'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openManagementWorld({ environment: limits });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** The used parts as the metrics of the process show them. */
  async function used(): Promise<Readonly<Record<string, number>>> {
    const text = await (await fetch(`${world.api.replicas[0]?.ready['admin']}/metrics`)).text();
    const found = text.matchAll(/^portcullis_management_quota_used_ratio\{.*quota="(\w+)".*\} (\S+)$/gm);
    return Object.fromEntries([...found].map(([, quota, value]) => [quota, Number(value)]));
  }
  const usedBecomes = (quota: string, value: number) =>
    until(`${quota} are used to ${value}`, async () => (await used())[quota] === value);

  test('the last policy and the last version that fit are saved, the next ones are stored nowhere, and archiving needs no quota', async () => {
    const create = (name: string) => world.api.command('POST', policies, { name, definition: definitionOf(name) });
    const { id } = await world.createPolicy('first');
    expect((await world.api.ended(await create('second'))).state).toBe('succeeded');
    await usedBecomes('policies', 1);
    const third = await create('third');
    expect([third.status, third.json.error.code]).toEqual([409, 'policy_quota_reached']);
    await world.savePolicy(id, { description: 'third version of all' });
    await world.savePolicy(id, { description: 'fourth version of all' });
    await usedBecomes('revisions', 1);
    const { policy, etag } = await world.readPolicy(id);
    const { name, description, status, definition } = policy;
    const body = { name, description, status, definition };
    const before = await world.objects();
    const save = await world.api.command('PUT', `${policies}/${id}`, body, { etag });
    expect([save.status, save.json.error.code]).toEqual([409, 'revision_quota_reached']);
    const dry = await world.api.call(`/api/v1/dry-runs/guardrail-policies/${id}`, { method: 'POST', body });
    expect([dry.status, dry.json.error.code]).toEqual([409, 'revision_quota_reached']);
    expect(await world.objects()).toEqual(before);
    const model = await world.createModel('over-quota');
    await world.applied(model, id, 3);
    const archived = { ...body, status: 'archived' };
    const changed = { ...archived, definition: definitionOf('changed') };
    expect((await world.api.command('PUT', `${policies}/${id}`, changed, { etag })).status).toBe(409);
    expect(await world.savePolicy(id, { status: 'archived' })).toBe(4);
    const { etag: archivedTag } = await world.readPolicy(id);
    for (const again of [archived, body]) {
      const answer = await world.api.command('PUT', `${policies}/${id}`, again, { etag: archivedTag });
      expect([answer.status, answer.json.error.code]).toEqual([409, 'revision_quota_reached']);
    }
  });

  test('versions are refused when their bytes together would exceed the quota', async () => {
    await world.api.replicas[0]?.end();
    await world.api.startReplica(0, { PORTCULLIS_MAX_POLICIES: '9', PORTCULLIS_MAX_REVISIONS: '99' });
    const terms = Array.from({ length: 7_000 }, (_, at) => `${'a'.repeat(56)}${String(at).padStart(6, '0')}`);
    const [rule] = definitionOf('x').request.baseline;
    if (rule?.kind !== 'stop_list') throw new Error('the first rule is not a stop list');
    const large = { ...rule, stopList: { ...rule.stopList, terms } };
    const { response, request, providers } = definitionOf('x');
    const definition = { request: { ...request, baseline: [large] }, response, providers };
    const { id } = await world.createPolicy('large', definition);
    await world.savePolicy(id, { description: 'again' });
    await until('the bytes of both versions count', async () => ((await used())['bytes'] ?? 0) > 0.8);
    expect((await used())['bytes']).toBeLessThan(1);
    const { policy, etag } = await world.readPolicy(id);
    const { name, description, status } = policy;
    const body = { name, description, status, definition };
    const third = await world.api.command('PUT', `${policies}/${id}`, body, { etag });
    expect([third.status, third.json.error.code]).toEqual([409, 'storage_quota_reached']);
    const small = { ...body, definition: definitionOf('small') };
    expect((await world.api.command('PUT', `${policies}/${id}`, small, { etag })).status).toBe(202);
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('quotas of policies under saves at the same time'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    const few = { PORTCULLIS_MAX_POLICIES: '3', PORTCULLIS_MAX_REVISIONS: '5', PORTCULLIS_MAX_REVISION_MIB: '1' };
    world = await openManagementWorld({ environment: few, replicas: 2 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** How often each outcome occurred. */
  function tally(
    answers: readonly { readonly status: number; readonly json: { readonly error?: { readonly code: string } } }[],
  ) {
    const outcomes = answers.map(({ status, json }) => (status === 202 ? 'accepted' : json.error?.code));
    return Object.fromEntries([...Map.groupBy(outcomes, (one) => one)].map(([one, all]) => [one, all.length]));
  }

  test('concurrent creations and saves on two replicas are accepted up to the quota, and no more', async () => {
    const create = (at: number) =>
      world.api.command(
        'POST',
        policies,
        { name: `at-once-${at}`, definition: definitionOf('x') },
        { replica: at % 2 },
      );
    const created = await Promise.all(Array.from({ length: 12 }, (_, at) => create(at)));
    expect(tally(created)).toEqual({ accepted: 3, policy_quota_reached: 9 });
    const ids = created.flatMap(({ status, json }) => (status === 202 ? [String(json.target.id)] : []));
    const live = await Promise.all(ids.map((id) => world.readPolicy(id)));
    const saves = ids.map((id, at) => {
      const { name, description, status, definition } = live[at]?.policy ?? {};
      const body = { name, description: `${description} again`, status, definition };
      return world.api.command('PUT', `${policies}/${id}`, body, { etag: String(live[at]?.etag), replica: at % 2 });
    });
    expect(tally(await Promise.all(saves))).toEqual({ accepted: 2, revision_quota_reached: 1 });
    const stored = await world.client.list(kinds.policyRevision);
    expect(stored.items).toHaveLength(5);
  });

  test('concurrent large saves are accepted up to the quota of bytes', async () => {
    for (const replica of [0, 1]) {
      await world.api.replicas[replica]?.end();
      await world.api.startReplica(replica, { PORTCULLIS_MAX_POLICIES: '99', PORTCULLIS_MAX_REVISIONS: '99' });
    }
    const terms = Array.from({ length: 5_000 }, (_, at) => `${'a'.repeat(50)}${String(at).padStart(6, '0')}`);
    const { response, request, providers } = definitionOf('x');
    const [rule] = request.baseline;
    if (rule?.kind !== 'stop_list') throw new Error('the first rule is not a stop list');
    const large = { ...rule, stopList: { ...rule.stopList, terms } };
    const definition = { request: { ...request, baseline: [large] }, response, providers };
    const create = (at: number) =>
      world.api.command('POST', policies, { name: `large-${at}`, definition }, { replica: at % 2 });
    // Each policy has about 300,000 bytes of the quota of 1 MiB.
    expect(tally(await Promise.all([0, 1, 2, 3, 4, 5].map(create)))).toEqual({ accepted: 3, storage_quota_reached: 3 });
  });
});
