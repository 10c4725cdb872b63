import { afterAll, beforeAll, expect, test } from 'vitest';
import { bindingReadSchema } from '#contracts/management';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { definitionOf } from '../../operator/testing/objects.ts';
import { verifies } from '../support/verifies.ts';
import { onResourceServers } from './on-resource-servers.ts';
import type { ManagementWorld } from './open-management-world.ts';

onResourceServers('the binding of a model', (openWorld) => {
  let world: ManagementWorld;
  let policyId: string;

  beforeAll(async () => {
    world = await openWorld({ replicas: 2 });
    policyId = (await world.createPolicy('bound')).id;
    await world.savePolicy(policyId, { definition: definitionOf('second') });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const path = (modelId: string): string => `/api/v1/models/${modelId}/guardrail-binding`;

  async function put(modelId: string, body: unknown) {
    const { headers } = await world.readBinding(modelId);
    return world.api.command('PUT', path(modelId), body, { etag: String(headers['etag']) });
  }

  const state = async (modelId: string, wanted: string) => (await world.untilState(modelId, wanted)).json;

  verifies(
    [
      'management:binding:model-id',
      'management:binding:gateway-name',
      'management:binding:model-revision',
      'management:binding:operation-id',
      'management:binding:observation',
      'management:binding:state-values',
      'management:binding:object-fields',
      'management:binding-get:selected-policy',
      'management:binding-put:apply-202',
      'management:apply:sequence',
      'management:binding-state:to-applied',
      'management:binding-state:applied',
      'management:policy-revision:integer-form',
    ],
    'a client applies a revision to a binding by read, PUT with the ETag, and reads until applied',
    async () => {
      const modelId = await world.createModel('sequence');
      const before = await state(modelId, 'unbound');
      bindingReadSchema.strict().parse(before);
      const states = ['pending', 'applied', 'failed', 'disabled', 'unbound'];
      expect(bindingReadSchema.shape.state.options.toSorted()).toEqual(states.toSorted());
      for (const state of states) expect(bindingReadSchema.safeParse({ ...before, state }).success).toBe(true);
      const { headers } = await world.readBinding(modelId);
      const body = { policyId, policyRevision: 1, contentProfile: currentProfile };
      const answer = await world.api.command('PUT', path(modelId), body, { etag: String(headers['etag']) });
      expect(answer.status).toBe(202);
      expect(answer.json).toMatchObject({ kind: 'binding.apply', target: { type: 'model', id: modelId } });
      const operation = await world.api.ended(answer);
      expect(operation.state).toBe('succeeded');
      const after = bindingReadSchema.strict().parse(await state(modelId, 'applied'));
      const route = await world.client.get<GatewayRoute>(kinds.gatewayRoute, 'sequence');
      const guardrail = route?.spec.guardrail;
      if (guardrail?.mode !== 'Policy') throw new Error('the route has no guard yet');
      const binding = {
        policyId,
        policyRevision: 1,
        generationId: route?.spec.generationId,
        bundleDigest: guardrail.digest,
      };
      expect(after).toMatchObject({
        modelId,
        gatewayName: 'default',
        modelRevision: (await world.binding('sequence')).metadata.generation,
        operationId: operation.operationId,
        state: 'applied',
        observation: { serving: binding, expected: 1, confirmed: 1, rejected: 0, reason: null },
      });
      expect(after.binding).toEqual(binding);
      expect(operation.result).toEqual({ modelId, ...binding });
      expect(guardrail.headers['x-ap-gr-policy-revision']).toBe('1');
      await until('every replica returns the same binding', async () => {
        const [one, other] = await Promise.all([0, 1].map((replica) => world.api.call(path(modelId), { replica })));
        expect(other?.text).toBe(one?.text);
        return one?.headers['etag'] === other?.headers['etag'];
      });
      expect(after.observation.lastObservedAt).not.toBeNull();
    },
  );

  verifies(
    [
      'management:binding:empty',
      'management:binding-state:unbound',
      'management:binding-write:both-nulls',
      'management:binding-write:content-profile-kept',
      'management:binding-put:unbind-202',
    ],
    'two nulls with a content profile unbind a model; without the profile the body is refused',
    async () => {
      const modelId = await world.createModel('unbinding');
      await world.applied(modelId, policyId, 1);
      const without = await put(modelId, { policyId: null, policyRevision: null });
      expect(without.status).toBe(422);
      const answer = await put(modelId, { policyId: null, policyRevision: null, contentProfile: currentProfile });
      expect([answer.status, answer.json.kind]).toEqual([202, 'binding.unbind']);
      expect((await world.api.ended(answer)).state).toBe('succeeded');
      const read = await state(modelId, 'unbound');
      expect(read.binding).toBeNull();
      const object = await world.binding('unbinding');
      expect(object.spec).toMatchObject({ guardrail: { mode: 'None' }, contentProfile: currentProfile });
    },
  );

  verifies(
    [
      'management:binding-write:fields',
      'management:binding-write:policy-id',
      'management:binding-write:policy-revision',
      'management:binding-write:content-profile',
      'management:binding-write:only-policy-id-null',
      'management:binding-write:only-revision-null',
    ],
    'a binding body has a valid policyId, policyRevision and contentProfile and no other member',
    async () => {
      const modelId = await world.createModel('formed');
      await world.applied(modelId, policyId, 1);
      const before = (await world.binding('formed')).metadata.generation;
      const valid = { policyId, policyRevision: 1, contentProfile: currentProfile };
      const wrong = [
        ...[1, true, 'x', '', {}, [], 'null'].map((id) => ({ ...valid, policyId: id })),
        ...[0, -1, 1.5, true, '1', {}, 1e300].map((policyRevision) => ({ ...valid, policyRevision })),
        ...[1, [], {}, null, ''].map((contentProfile) => ({ ...valid, contentProfile })),
        { ...valid, policyId: null },
        { ...valid, policyRevision: null },
        ...['gatewayName', 'modelRevision', 'operationId', 'state', 'binding', 'observation', 'collectionId'].map(
          (name) => ({ ...valid, [name]: 'x' }),
        ),
        { policyId, policyRevision: 1 },
        { policyId, contentProfile: currentProfile },
        [],
        null,
      ];
      for (const body of wrong) {
        const answer = await put(modelId, body);
        expect([JSON.stringify(body), answer.status]).toEqual([JSON.stringify(body), 422]);
      }
      expect((await world.binding('formed')).metadata.generation).toBe(before);
      const unknown = [
        { ...valid, policyId: '5f6a1d0e-8a55-4d8e-9e4c-0d9d2f1a2b3c' },
        ...[999, 2_147_483_648, Number.MAX_SAFE_INTEGER].map((policyRevision) => ({ ...valid, policyRevision })),
      ];
      for (const body of unknown) {
        const answer = await put(modelId, body);
        expect([answer.status, answer.json.error.code]).toEqual([409, 'policy_revision_unknown']);
      }
      const capitals = await put(modelId, { ...valid, policyId: policyId.toUpperCase() });
      expect((await world.api.ended(capitals)).state).toBe('succeeded');
    },
  );

  verifies(
    ['management:apply:exact-values', 'management:rollback:earlier-revision', 'management:apply:later-edit'],
    'the revision of the body is applied, later edits change nothing, and a rollback is a new operation',
    async () => {
      const id = (await world.createPolicy('exact')).id;
      await world.savePolicy(id, { definition: definitionOf('other') });
      const modelId = await world.createModel('exact-model');
      const first = await world.applied(modelId, id, 1);
      expect(first.json.binding).toMatchObject({ policyId: id, policyRevision: 1 });
      await world.savePolicy(id, { definition: definitionOf('third') });
      const later = await world.readBinding(modelId);
      expect([later.json.binding, later.headers['etag']]).toEqual([first.json.binding, first.headers['etag']]);
      const second = await world.applied(modelId, id, 2);
      expect(second.json.binding.bundleDigest).not.toBe(first.json.binding.bundleDigest);
      const back = await world.applied(modelId, id, 1);
      expect(back.json.binding).toMatchObject({
        policyRevision: 1,
        bundleDigest: first.json.binding.bundleDigest,
      });
      const operations = [first, second, back].map(({ json }) => json.operationId);
      expect(new Set(operations).size).toBe(3);
    },
  );

  verifies(
    [
      'management:binding-state:unconfirmed-not-applied',
      'management:binding-state:202-not-active',
      'management:binding-state:pending',
    ],
    'while a gateway replica has not confirmed an application, the state of the binding is pending and the operation is running',
    async () => {
      const modelId = await world.createModel('awaited');
      await state(modelId, 'unbound');
      world.gateway.attitude = 'pend';
      const answer = await world.apply(modelId, policyId, 1);
      expect(answer.status).toBe(202);
      const states = new Set<string>();
      await until('the route exists', async () => {
        const read = (await world.readBinding(modelId)).json;
        states.add(read.state);
        return read.observation.reason === 'waiting_for_replicas' && read.observation.expected === 1 ? read : undefined;
      });
      expect([...states]).toEqual(['pending']);
      const operation = await world.api.call(`/api/v1/operations/${answer.json.operationId}`);
      expect(operation.json.state).toBe('running');
      const { etag } = (await world.readBinding(modelId)).headers;
      world.gateway.attitude = 'take';
      expect((await world.api.ended(answer)).state).toBe('succeeded');
      await state(modelId, 'applied');
      expect((await world.readBinding(modelId)).headers['etag']).toBe(etag);
    },
  );

  verifies(
    ['management:binding-state:failed-error', 'management:binding-state:failed-profile'],
    'a binding with a rejected application or an unsupported profile shows failed while the earlier application serves',
    async () => {
      const modelId = await world.createModel('failing');
      const applied = await world.applied(modelId, policyId, 1);
      const profile = await world.api.ended(await world.apply(modelId, policyId, 2, 'another-profile'));
      expect(profile).toMatchObject({ state: 'failed', error: { code: 'profile_unsupported' } });
      const unsupported = await state(modelId, 'failed');
      expect(unsupported.observation).toMatchObject({ reason: 'profile_unsupported', serving: applied.json.binding });
      expect(unsupported.binding).toEqual({ policyId, policyRevision: 2, generationId: null, bundleDigest: null });
      world.gateway.attitude = { reject: 'cannot take it' };
      const rejected = await world.api.ended(await world.apply(modelId, policyId, 2));
      expect(rejected).toMatchObject({ state: 'failed', error: { code: 'replica_rejected' } });
      world.gateway.attitude = 'take';
      const failed = await state(modelId, 'failed');
      expect(failed.observation.reason).toBe('replica_rejected');
      expect(failed.observation.serving).toMatchObject({ policyId, policyRevision: 1 });
      expect((await world.applied(modelId, policyId, 2)).json.state).toBe('applied');
    },
  );

  verifies(
    ['management:binding-state:disabled-model', 'management:binding-state:disabled-provider'],
    'a disabled model or provider shows disabled, and a model that is enabled again shows its application',
    async () => {
      const modelId = await world.createModel('switched');
      const applied = await world.applied(modelId, policyId, 1);
      const switchModel = (value: 'Enabled' | 'Disabled') =>
        world.client.patch<ModelBinding>(kinds.modelBinding, 'switched', [
          { op: 'replace', path: '/spec/model/state', value },
        ]);
      await switchModel('Disabled');
      expect((await state(modelId, 'disabled')).observation.reason).toBe('model_disabled');
      const whileOff = await world.api.ended(await world.apply(modelId, policyId, 2));
      expect(whileOff.state).toBe('succeeded');
      await switchModel('Enabled');
      const after = await state(modelId, 'applied');
      expect(after.binding).toMatchObject({ policyRevision: 2 });
      expect(after.binding.bundleDigest).not.toBe(applied.json.binding.bundleDigest);
      const model = { alias: 'unpowered', provider: 'off', upstreamModel: 'echo', state: 'Enabled' } as const;
      const off = await world.createModel('unpowered', { model });
      expect((await state(off, 'disabled')).observation.reason).toBe('provider_disabled');
    },
  );

  test('a binding of a gateway without replicas stays pending', async () => {
    const modelId = await world.createModel('lonely', { gateway: 'without-replicas' });
    await world.apply(modelId, policyId, 1);
    const read = await until('the route exists', async () => {
      const { json } = await world.readBinding(modelId);
      return json.observation.reason === 'no_ready_replica' ? json : undefined;
    });
    expect(read).toMatchObject({ state: 'pending', observation: { expected: 0, confirmed: 0 } });
  });

  test('a PUT supersedes an earlier application that has no outcome', async () => {
    const modelId = await world.createModel('raced', { gateway: 'without-replicas' });
    const first = await world.apply(modelId, policyId, 1);
    const second = await world.apply(modelId, policyId, 2);
    expect(await world.api.ended(first)).toMatchObject({ state: 'failed', error: { code: 'superseded' } });
    const open = await world.api.call(`/api/v1/operations/${second.json.operationId}`);
    expect(open.json.state).toBe('running');
  });

  test('a model that is being deleted refuses an application with 409', async () => {
    const modelId = await world.createModel('parting');
    await world.applied(modelId, policyId, 1);
    const object = await world.binding('parting');
    await world.client.patch(kinds.modelBinding, 'parting', [
      { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/hold' },
    ]);
    await deleteConfirmed(world.client, kinds.modelBinding, object);
    const answer = await world.apply(modelId, policyId, 2);
    expect([answer.status, answer.json.error.code]).toEqual([409, 'model_deleting']);
  });
});
