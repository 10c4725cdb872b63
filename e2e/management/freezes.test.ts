import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import type { HttpResponse } from './call-api.ts';
import { failSecondApplication } from './fail-second-application.ts';
import { applyOf, leaveCommand } from './leave-command.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const policies = '/api/v1/guardrail-policies';

describe.skipIf(missingPostgres !== undefined)(onPostgres('freeze windows'), () => {
  let world: ManagementWorld;
  const tokens = { asker: '', viewer: '' };

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 2 });
    for (const [subject, roles] of [
      ['asker', ['author', 'applier', 'viewer']],
      ['viewer', ['viewer']],
    ] as const) {
      tokens[subject] = await world.api.mint({ subject });
      for (const role of roles) {
        await world.api.call('/api/v1/rights/grant', { method: 'POST', body: { role, holder: { issuer, subject } } });
      }
    }
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const etagOf = async (model: string) => String((await world.readBinding(model)).headers['etag']);

  /** Requests an application as an applier, or, without a policy, an unbind. */
  async function ask(model: string, policyId: string | null, revision: number | null, replica = 0) {
    const body = { policyId, policyRevision: revision, contentProfile: currentProfile };
    const path = `/api/v1/models/${model}/guardrail-binding`;
    return world.api.command('PUT', path, body, { etag: await etagOf(model), token: tokens.asker, replica });
  }

  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const freeze = (body: object, token?: string) =>
    world.api.call('/api/v1/freezes', { method: 'POST', body, ...(token === undefined ? {} : { token }) });
  const unfreeze = (id: string) => world.api.call(`/api/v1/freezes/${id}/remove`, { method: 'POST' });
  const entriesOf = async (query: string) => (await world.api.call(`/api/v1/audit?${query}`)).json.items;

  /** The end that a refused command names. */
  function endOf({ status, json }: HttpResponse): string {
    expect([status, json.error.code]).toEqual([409, 'change_frozen']);
    return json.error.details[0].message;
  }

  /** An application by the administrator, who overrides the window. */
  async function override(
    model: string,
    policyId: string,
    { token, value = 'true' }: { token?: string; value?: string } = {},
  ) {
    const body = { policyId, policyRevision: 1, contentProfile: currentProfile };
    return world.api.command('PUT', `/api/v1/models/${model}/guardrail-binding`, body, {
      etag: await etagOf(model),
      headers: { 'x-portcullis-override-freeze': value },
      ...(token === undefined ? {} : { token }),
    });
  }

  test('a freeze window of a policy or model refuses applications, unbinds and archivings until it ends or an administrator removes it', async () => {
    const { id } = await world.createPolicy('frozen', definitionOf('frozen'));
    const { id: other } = await world.createPolicy('frozen-not', definitionOf('other'));
    const model = await world.createModel('frozen');
    await world.applied(model, id, 1);
    expect((await freeze({ policyId: id, endsAt: inHours(1) }, tokens.asker)).status).toBe(403);
    expect((await freeze({ policyId: id, endsAt: inHours(-1) })).json.error.details[0].path).toBe('/endsAt');
    expect((await freeze({ policyId: model, endsAt: inHours(1) })).json.error.code).toBe('policy_not_found');
    expect((await freeze({ modelId: id, endsAt: inHours(1) })).json.error.code).toBe('model_not_found');
    const later = await freeze({ modelId: model, startsAt: inHours(1), endsAt: inHours(2) });
    expect((await world.api.ended(await ask(model, id, 1))).state).toBe('succeeded');
    const set = await freeze({ policyId: id, endsAt: inHours(3) });
    expect([later.status, set.status]).toEqual([200, 200]);
    const before = await world.objects();
    const { policy, etag } = await world.readPolicy(id);
    const { name, description, definition } = policy;
    const save = (status: string) =>
      world.api.command('PUT', `${policies}/${id}`, { name, description, definition, status }, { etag });
    const refused = [
      await ask(model, id, 1),
      await ask(model, other, 1, 1),
      await ask(model, null, null),
      await save('archived'),
    ];
    expect(refused.map(endOf)).toEqual(Array(4).fill(`a window is in force until ${set.json.endsAt}`));
    expect(await world.objects()).toEqual(before);
    expect((await world.api.ended(await save('draft'))).state).toBe('succeeded');
    const free = await world.createModel('frozen-not');
    await world.applied(free, other, 1);
    const listed = (await world.api.call('/api/v1/freezes', { token: tokens.viewer })).json.items;
    expect(listed.map((one: { id: string }) => one.id)).toEqual([set.json.id, later.json.id]);
    expect((await unfreeze(set.json.id)).status).toBe(200);
    expect((await unfreeze(set.json.id)).json.error.code).toBe('freeze_not_found');
    await unfreeze(later.json.id);
    expect((await world.api.ended(await ask(model, null, null))).state).toBe('succeeded');
    const { startsAt, endsAt } = set.json;
    for (const action of ['freeze.set', 'freeze.remove']) {
      const entries = await entriesOf(`action=${action}&targetId=${id}&outcome=accepted`);
      expect(entries.map((entry: { content: { window: unknown } }) => entry.content.window)).toEqual([
        { startsAt, endsAt },
      ]);
    }
  });

  test('a freeze window of the policy that protects a model after a failed application of another one refuses unbinds and applications', async () => {
    const { model, protecting, other } = await failSecondApplication(world);
    const set = await freeze({ policyId: protecting, endsAt: inHours(1) });
    for (const refused of [await ask(model, null, null), await ask(model, other, 1)]) endOf(refused);
    await unfreeze(set.json.id);
    expect((await world.api.ended(await ask(model, null, null))).state).toBe('succeeded');
  });

  test('an administrator overrides a freeze window, which adds an audit entry, and an applier does not', async () => {
    const { id } = await world.createPolicy('overridden', definitionOf('overridden'));
    const model = await world.createModel('overridden');
    const overrides = async () => (await entriesOf(`action=freeze.override&targetId=${model}`)).length;
    expect((await world.api.ended(await override(model, id))).state).toBe('succeeded');
    expect(await overrides()).toBe(0);
    await freeze({ modelId: model, endsAt: inHours(1) });
    expect((await override(model, id, { token: tokens.asker })).status).toBe(403);
    expect((await override(model, id, { value: 'yes' })).json.error.code).toBe('invalid_body');
    const accepted = await override(model, id);
    expect((await world.api.ended(accepted)).state).toBe('succeeded');
    const entries = await entriesOf(`operationId=${accepted.json.operationId}&outcome=accepted`);
    const actions = entries.map((entry: { content: { action: string } }) => entry.content.action);
    expect(actions.toSorted()).toEqual(['binding.apply', 'freeze.override']);
    expect(await overrides()).toBe(1);
  });

  test('recovery sends no write in a freeze window, and an overriding one only for an administrator', async () => {
    const { id } = await world.createPolicy('left', definitionOf('left'));
    const model = await world.createModel('left');
    await freeze({ modelId: model, endsAt: inHours(1) });
    const leave = async (more: { readonly subject?: string; readonly overridesFreeze?: boolean }) => {
      const left = applyOf(await world.binding('left'), id, 'left');
      await leaveCommand(world.api, { ...left, objects: [`model:${model}`], ...more });
      return world.api.endOf(left.operationId);
    };
    const ends = [leave({}), leave({ subject: 'asker', overridesFreeze: true }), leave({ overridesFreeze: true })];
    const refused = { state: 'failed', error: { code: 'not_executed' } };
    expect(await Promise.all(ends)).toMatchObject([refused, refused, { state: 'succeeded' }]);
  });

  test('no application takes effect after the answer to a freeze window that has begun, on any replica', async () => {
    const { id } = await world.createPolicy('frozen-late', definitionOf('frozen-late'));
    const model = await world.createModel('frozen-late');
    for (let round = 0; round < 3; round++) {
      const state = { isFrozen: false };
      const late: number[] = [];
      const senders = Array.from({ length: 4 }, async (_, at) => {
        for (let count = 0; count < 4; count++) {
          const wasFrozen = state.isFrozen;
          const answer = await ask(model, id, 1, at % 2);
          if (wasFrozen) late.push(answer.status);
        }
      });
      const setting = freeze({ modelId: model, endsAt: inHours(1) }).then(async (set) => {
        state.isFrozen = true;
        const { generation } = (await world.binding('frozen-late')).metadata;
        return { id: set.json.id, generation };
      });
      const [set] = await Promise.all([setting, ...senders]);
      expect(late.filter((status) => status !== 409)).toEqual([]);
      expect((await world.binding('frozen-late')).metadata.generation).toBe(set.generation);
      await unfreeze(set.id);
    }
  });

  test('a new freeze window is answered after the commands stored before it have ended', async () => {
    const { id } = await world.createPolicy('in-flight', definitionOf('in-flight'));
    const model = await world.createModel('in-flight');
    const left = applyOf(await world.binding('in-flight'), id, 'in-flight');
    await leaveCommand(world.api, { ...left, leaseSeconds: 300 });
    const state = { isAnswered: false };
    const setting = freeze({ modelId: model, endsAt: inHours(1) }).then(({ status }) => {
      state.isAnswered = true;
      return status;
    });
    const isListed = async () =>
      (await world.api.call('/api/v1/freezes')).json.items.some(
        ({ target }: { readonly target: { readonly id: string } }) => target.id === model,
      );
    await until('the window is stored', isListed);
    for (let count = 0; count < 10; count++) expect(await isListed()).toBe(true);
    expect(state.isAnswered).toBe(false);
    await world.api.database.database.sql`delete from management.operations where operation_id = ${left.operationId}`;
    expect(await setting).toBe(200);
  });

  test('an installation has at most 500 freeze windows that have not ended', async () => {
    const { sql } = world.api.database.database;
    await sql`delete from management.freezes`;
    await sql`insert into management.freezes
      select gen_random_uuid(), 'model', gen_random_uuid(), now(), now() + interval '1 hour' from generate_series(1, 499)`;
    const { id } = await world.createPolicy('many-windows', definitionOf('many'));
    expect((await freeze({ policyId: id, endsAt: inHours(1) })).status).toBe(200);
    const full = await freeze({ policyId: id, endsAt: inHours(1) });
    expect([full.status, full.json.error.code]).toEqual([409, 'freeze_quota_reached']);
    await sql`update management.freezes set starts_at = now() - interval '2 hours', ends_at = now() - interval '1 hour'`;
    expect((await freeze({ policyId: id, endsAt: inHours(1) })).status).toBe(200);
  });
});
