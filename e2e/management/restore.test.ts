import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { apiVersion, idLabel, type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { policyNameOf } from './actions.ts';
import { leaveCommand, replaceOf } from './leave-command.ts';
import { onResourceServers } from './on-resource-servers.ts';
import type { ManagementWorld } from './open-management-world.ts';

onResourceServers('operations whose resource was restored', (open) => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await open();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const id = (object: Resource): string => String(object.metadata.labels?.[idLabel]);

  /** Deletes an object and restores it from a backup while no replica of the API runs. */
  async function restore(kind: Kind, object: Stored<Resource>, backup: Resource): Promise<void> {
    const { name } = object.metadata;
    await deleteConfirmed(world.client, kind, object);
    await until('the object is deleted', async () => (await world.client.get(kind, name)) === undefined);
    const { spec } = backup;
    const metadata = { name, labels: { [idLabel]: id(backup) } };
    await world.client.create(kind, { apiVersion, kind: kind.kind, metadata, spec });
  }

  async function applyUnconfirmed(name: string) {
    const { id: policyId } = await world.createPolicy(name);
    const modelId = await world.createModel(name);
    const before = await world.binding(name);
    world.gateway.attitude = 'pend';
    const accepted = await world.apply(modelId, policyId, 1);
    const { operationId } = accepted.json;
    await until('the application is pinned', async () => {
      const { json } = await world.readBinding(modelId);
      return json.observation.reason === 'waiting_for_replicas';
    });
    expect((await world.api.call(`/api/v1/operations/${operationId}`)).json.state).toBe('running');
    await world.api.replicas[0]?.end();
    world.gateway.attitude = 'take';
    return { modelId, policyId, operationId, before, after: await world.binding(name) };
  }

  test('an application that is not in the restored backup ends as lost_in_restore', async () => {
    const { modelId, policyId, operationId, before, after } = await applyUnconfirmed('before-the-command');
    await restore(kinds.modelBinding, after, before);
    await world.api.startReplica(0);
    expect(await world.api.endOf(operationId)).toMatchObject({ state: 'failed', error: { code: 'lost_in_restore' } });
    const read = await world.readBinding(modelId);
    expect([read.json.binding, read.json.operationId]).toEqual([null, null]);
    expect((await world.applied(modelId, policyId, 1)).json.state).toBe('applied');
  });

  test('an application that is in the restored backup is applied and its operation succeeds', async () => {
    const { modelId, policyId, operationId, after } = await applyUnconfirmed('after-the-command');
    await restore(kinds.modelBinding, after, after);
    await world.api.startReplica(0);
    const end = await world.api.endOf(operationId);
    expect(end).toMatchObject({ state: 'succeeded', result: { modelId, policyId, policyRevision: 1 } });
    const { json: read } = await world.untilState(modelId, 'applied');
    expect([read.operationId, read.binding]).toMatchObject([operationId, { policyId, policyRevision: 1 }]);
  });

  test('a revision that is not in the restored backup ends as lost_in_restore, and the next PUT continues from the restored one', async () => {
    const { id: policyId } = await world.createPolicy('a-version');
    const name = await policyNameOf(world.client, policyId);
    const before = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    if (before === undefined) throw new Error('there is no such policy');
    const row = await replaceOf(world.client, policyId);
    await world.api.replicas[0]?.end();
    await restore(kinds.guardrailPolicy, before, before);
    await leaveCommand(world.api, { ...row, accepted: { uid: row.uid, generation: row.generation + 1 } });
    await world.api.startReplica(0);
    expect(await world.api.endOf(row.operationId)).toMatchObject({
      state: 'failed',
      error: { code: 'lost_in_restore' },
    });
    expect((await world.readPolicy(policyId)).policy).toMatchObject({ revision: 1, description: '' });
    expect(await world.savePolicy(policyId)).toBe(2);
  });
});
