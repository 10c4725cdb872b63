import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Approval } from '#contracts/approvals';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import type { HttpResponse } from './call-api.ts';
import { failSecondApplication } from './fail-second-application.ts';
import { applyOf, leaveCommand } from './leave-command.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const policies = '/api/v1/guardrail-policies';
const roles = ['author', 'applier', 'viewer'] as const;

describe.skipIf(missingPostgres !== undefined)(onPostgres('approvals by a second person'), () => {
  let world: ManagementWorld;
  const tokens = { asker: '', approver: '', viewer: '' };

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 2 });
    for (const subject of ['asker', 'approver', 'viewer'] as const) {
      tokens[subject] = await world.api.mint({ subject });
      for (const role of subject === 'viewer' ? ['viewer'] : roles) await right('grant', role, subject);
    }
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const right = (verb: 'grant' | 'revoke', role: string, subject: string) =>
    world.api.call(`/api/v1/rights/${verb}`, { method: 'POST', body: { role, holder: { issuer, subject } } });
  const rule = (verb: 'require' | 'release', body: unknown) =>
    world.api.call(`/api/v1/approval-rules/${verb}`, { method: 'POST', body });
  const approve = (id: string, token: string, replica = 0) =>
    world.api.call(`/api/v1/approvals/${id}/approve`, { method: 'POST', token, replica });
  const etagOf = async (model: string) => String((await world.readBinding(model)).headers['etag']);

  /** Requests an application, or, without a policy, an unbind. */
  async function ask(model: string, policyId: string | null, revision: number | null, given?: string, replica = 0) {
    const body = { policyId, policyRevision: revision, contentProfile: currentProfile };
    const etag = given ?? (await etagOf(model));
    const path = `/api/v1/models/${model}/guardrail-binding`;
    return world.api.command('PUT', path, body, { etag, token: tokens.asker, replica });
  }

  /** The id of the request that a refused command names. */
  function requestOf({ status, json }: HttpResponse): string {
    expect([status, json.error.code]).toEqual([409, 'approval_required']);
    return json.error.details[0].path.replace('/approvals/', '');
  }

  async function guardedModel(name: string) {
    const { id } = await world.createPolicy(name, definitionOf(name));
    await world.savePolicy(id, { definition: definitionOf(`${name}-2`) });
    const model = await world.createModel(name);
    await rule('require', { modelId: model });
    return { id, model };
  }

  test('an application to a model that requires approvals takes effect once, after another person with the right approved it', async () => {
    const { id, model } = await guardedModel('twice-seen');
    const before = await world.objects();
    const request = requestOf(await ask(model, id, 1));
    expect(requestOf(await ask(model, id, 1))).toBe(request);
    expect(await world.objects()).toEqual(before);
    expect((await approve(request, tokens.asker)).json.error.code).toBe('approval_of_requester');
    const agent = await world.api.mint({ subject: 'approver', actors: [{ issuer, subject: 'asker' }] });
    expect((await approve(request, agent)).json.error.code).toBe('approval_of_requester');
    expect((await approve(request, tokens.viewer)).status).toBe(403);
    requestOf(await ask(model, id, 1));
    const approved = await approve(request, tokens.approver, 1);
    expect([approved.status, approved.json.approver.subject]).toEqual([200, 'approver']);
    expect(requestOf(await ask(model, id, 2))).not.toBe(request);
    expect((await world.api.ended(await ask(model, id, 1))).state).toBe('succeeded');
    expect(requestOf(await ask(model, id, 1))).not.toBe(request);
    expect((await approve(request, tokens.approver)).json.error.code).toBe('approval_not_found');
    const { items } = (await world.api.call('/api/v1/audit?action=approval.grant&outcome=accepted')).json;
    expect(items[0].content).toMatchObject({ author: { subject: 'approver' }, target: { type: 'model', id: model } });
    await rule('release', { modelId: model });
    expect((await world.api.ended(await ask(model, id, 2))).state).toBe('succeeded');
  });

  test('an approval that an agent gave for one person is not used by a command that it sends for another one', async () => {
    const { id, model } = await guardedModel('agent-on-both-sides');
    const agent = [{ issuer, subject: 'agent-of-both' }];
    await right('grant', 'applier', 'agent-of-both');
    const throughAgent = await world.api.mint({ subject: 'asker', actors: agent });
    const path = `/api/v1/models/${model}/guardrail-binding`;
    const body = { policyId: id, policyRevision: 1, contentProfile: currentProfile };
    const repeat = async (token: string) => world.api.command('PUT', path, body, { etag: await etagOf(model), token });
    const foreseen = async (token: string) => {
      const { json } = await world.api.call(`/api/v1/dry-runs/models/${model}/guardrail-binding`, {
        method: 'POST',
        body,
        token,
      });
      return json.refusals.map(({ code }: { readonly code: string }) => code);
    };
    const before = await world.objects();
    const request = requestOf(await ask(model, id, 1));
    const approved = await approve(request, await world.api.mint({ subject: 'approver', actors: agent }));
    expect(approved.status).toBe(200);
    requestOf(await repeat(throughAgent));
    expect(await foreseen(throughAgent)).toEqual(['approval_required']);
    expect(await world.objects()).toEqual(before);
    expect(await foreseen(tokens.asker)).toEqual([]);
    expect((await world.api.ended(await repeat(tokens.asker))).state).toBe('succeeded');
  });

  test('a caller without the right to read all approvals reads those of its own commands and those that it may approve', async () => {
    const { id, model } = await guardedModel('read-by-few');
    const { model: other } = await guardedModel('read-by-others');
    const grant = (subject: string, target: string) =>
      world.api.call('/api/v1/rights/grant', {
        method: 'POST',
        body: { role: 'applier', holder: { issuer, subject }, modelId: target },
      });
    await grant('applier-of-one', model);
    await grant('applier-of-other', other);
    const listed = async (subject: string) => {
      const { status, json } = await world.api.call('/api/v1/approvals', { token: await world.api.mint({ subject }) });
      expect(status).toBe(200);
      return json.items.map((item: Approval) => item.id).filter((one: string) => requests.includes(one));
    };
    const body = { policyId: id, policyRevision: 1, contentProfile: currentProfile };
    const own = await world.api.command('PUT', `/api/v1/models/${other}/guardrail-binding`, body, {
      etag: await etagOf(other),
      token: await world.api.mint({ subject: 'applier-of-other' }),
    });
    const requests = [requestOf(await ask(model, id, 1)), requestOf(own)];
    expect(await listed('applier-of-one')).toEqual([requests[0]]);
    expect(await listed('applier-of-other')).toEqual([requests[1]]);
    expect(await listed('somebody')).toEqual([]);
    expect(await listed('viewer')).toEqual(requests);
    const approved = await approve(requests[0] ?? '', await world.api.mint({ subject: 'applier-of-one' }));
    expect(approved.status).toBe(200);
  });

  test('a policy that requires approvals is neither applied, replaced, unbound nor archived by one person, and is saved by one', async () => {
    const { id } = await world.createPolicy('asks', definitionOf('asks'));
    const { id: other } = await world.createPolicy('asks-not', definitionOf('other'));
    const model = await world.createModel('asks');
    await world.applied(model, id, 1);
    expect((await rule('require', { policyId: id })).json.changed).toBe(true);
    expect((await world.api.call('/api/v1/approval-rules')).json.items).toContainEqual({ policyId: id });
    for (const [member, code] of [
      ['policyId', 'policy_not_found'],
      ['modelId', 'model_not_found'],
    ] as const) {
      const unknown = await rule('require', { [member]: uuid() });
      expect([unknown.status, unknown.json.error.code]).toEqual([404, code]);
      expect((await rule('release', { [member]: uuid() })).json.changed).toBe(false);
    }
    const { policy, etag } = await world.readPolicy(id);
    const { name, description, definition } = policy;
    const save = (status: string) =>
      world.api.command(
        'PUT',
        `${policies}/${id}`,
        { name, description, definition, status },
        { etag, token: tokens.asker },
      );
    const requests = [
      requestOf(await ask(model, id, 1)),
      requestOf(await ask(model, other, 1)),
      requestOf(await ask(model, null, null)),
      requestOf(await save('archived')),
    ];
    const { items } = (await world.api.call('/api/v1/approvals')).json as { items: readonly Approval[] };
    const listed = requests.map((request) => items.find((item) => item.id === request)?.kind);
    expect(listed).toEqual(['binding.apply', 'binding.apply', 'binding.unbind', 'policy.archive']);
    await approve(requests[3] ?? '', tokens.approver);
    expect((await world.api.ended(await save('archived'))).state).toBe('succeeded');
    expect(await world.savePolicy(id, { status: 'draft' })).toBe(3);
    await approve(requests[2] ?? '', tokens.approver);
    expect((await world.api.ended(await ask(model, null, null))).state).toBe('succeeded');
  });

  test('a policy that protects a model after a failed application of another one is unbound and replaced by two persons only', async () => {
    const { model, protecting, other } = await failSecondApplication(world);
    await rule('require', { policyId: protecting });
    requestOf(await ask(model, other, 1));
    const foreseen = await world.api.call(`/api/v1/dry-runs/models/${model}/guardrail-binding`, {
      method: 'POST',
      body: { policyId: other, policyRevision: 1, contentProfile: currentProfile },
    });
    expect(foreseen.json.refusals).toMatchObject([{ code: 'approval_required' }]);
    const request = requestOf(await ask(model, null, null));
    await approve(request, tokens.approver);
    expect((await world.api.ended(await ask(model, null, null))).state).toBe('succeeded');
    expect((await world.api.ended(await ask(model, other, 1))).state).toBe('succeeded');
  });

  test('an approval that expired, whose giver lost the right, or whose model was edited is not valid, even for recovery', async () => {
    const { id, model } = await guardedModel('not-valid');
    const { sql } = world.api.database.database;
    const approvedOne = async () => {
      const request = requestOf(await ask(model, id, 1));
      expect((await approve(request, tokens.approver)).status).toBe(200);
      return request;
    };
    const first = await approvedOne();
    await sql`update management.approvals set expires_at = clock_timestamp() where approval_id = ${first}`;
    expect(requestOf(await ask(model, id, 1))).not.toBe(first);
    const second = await approvedOne();
    await right('revoke', 'applier', 'approver');
    expect(requestOf(await ask(model, id, 1))).toBe(second);
    const left = applyOf(await world.binding('not-valid'), id, 'not-valid');
    await leaveCommand(world.api, { ...left, subject: 'asker' });
    await sql`update management.approvals set used_by = ${left.operationId} where approval_id = ${second}`;
    const end = await world.api.endOf(left.operationId);
    expect(end).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    await right('grant', 'applier', 'approver');
    const third = await approvedOne();
    await rule('release', { modelId: model });
    await world.applied(model, id, 2);
    await rule('require', { modelId: model });
    expect(requestOf(await ask(model, id, 1))).not.toBe(third);
  });

  test('recovery sends no command that was stored before the rule that requires its approval', async () => {
    const { id, model } = await guardedModel('stored-before');
    const leave = async () => {
      const left = applyOf(await world.binding('stored-before'), id, 'stored-before');
      await leaveCommand(world.api, { ...left, objects: [`model:${model}`, `policy:${id}`] });
      return world.api.endOf(left.operationId);
    };
    expect(await leave()).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    await rule('release', { modelId: model });
    expect(await leave()).toMatchObject({ state: 'succeeded' });
    await rule('require', { policyId: id });
    expect(await leave()).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
  });

  test('a new rule that requires approvals is answered after the commands stored before it have ended', async () => {
    const { id } = await world.createPolicy('in-flight', definitionOf('in-flight'));
    const model = await world.createModel('in-flight');
    const left = applyOf(await world.binding('in-flight'), id, 'in-flight');
    await leaveCommand(world.api, { ...left, leaseSeconds: 300 });
    const state = { isAnswered: false };
    const setting = rule('require', { modelId: model }).then(({ status }) => {
      state.isAnswered = true;
      return status;
    });
    const isListed = async () =>
      (await world.api.call('/api/v1/approval-rules')).json.items.some(
        ({ modelId }: { readonly modelId?: string }) => modelId === model,
      );
    await until('the rule is stored', isListed);
    for (let count = 0; count < 10; count++) expect(await isListed()).toBe(true);
    expect(state.isAnswered).toBe(false);
    await world.api.database.database.sql`delete from management.operations where operation_id = ${left.operationId}`;
    expect(await setting).toBe(200);
  });

  test('no application takes effect without a valid approval of its content, while approvals race with edits, revocations and expiry', async () => {
    const { id, model } = await guardedModel('raced');
    const { sql } = world.api.database.database;
    const accepted: string[] = [];
    /** An edit over the resources: the approvals of the state before it are no longer valid. */
    const edit = async () => {
      const { guardrail } = (await world.binding('raced')).spec;
      const revision = guardrail.mode === 'None' ? 1 : 3 - guardrail.policyRef.revision;
      const value = { mode: 'Policy', policyRef: { name: await policyNameOf(world.client, id), revision } };
      await world.client.patch(kinds.modelBinding, 'raced', [{ op: 'replace', path: '/spec/guardrail', value }]);
    };
    const generationOf = async () => (await world.binding('raced')).metadata.generation;
    for (let round = 0; round < 8; round++) {
      const generation = await generationOf();
      const etag = await etagOf(model);
      const revision = 1 + (round % 2);
      const request = requestOf(await ask(model, id, revision, etag));
      let isRevoked = false;
      const late: number[] = [];
      const senders = Array.from({ length: 4 }, async (_, at) => {
        for (let count = 0; count < 3; count++) {
          const wasRevoked = isRevoked;
          const answer = await ask(model, id, at === 3 ? 3 - revision : revision, etag, at % 2);
          if (answer.status === 202) accepted.push(answer.json.operationId);
          if (wasRevoked) late.push(answer.status);
        }
      });
      const against = [
        async () => {
          await right('revoke', 'applier', 'approver');
          isRevoked = true;
        },
        () => sql`update management.approvals set expires_at = clock_timestamp() where approval_id = ${request}`,
        edit,
        async () => undefined,
      ][round % 4];
      await Promise.all([...senders, approve(request, tokens.approver, round % 2), against?.()]);
      expect(late).not.toContain(202);
      if (against === edit) expect(await generationOf()).toBeGreaterThan(generation);
      await right('grant', 'applier', 'approver');
    }
    const unapproved = await sql<{ operation_id: string }[]>`
      select operation_id from management.operations o
      where o.accepted and o.target_id = ${model} and not exists (
        select from management.approvals a where a.used_by = o.operation_id and a.target_id = o.target_id
          and a.approver <> a.requester and date_trunc('milliseconds', a.approved_at) <= o.created_at and a.expires_at >= o.created_at
          and a.after::jsonb ->> 'revision' = (o.origin::jsonb -> 'after' ->> 'revision'))`;
    expect(unapproved).toEqual([]);
    expect(accepted.length).toBeGreaterThan(0);
  });
});
