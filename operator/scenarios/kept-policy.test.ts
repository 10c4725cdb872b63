import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { applyManifest } from '#kube/apply/apply-manifest';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, keepAnnotation, kinds, restoreMark } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { type ModelPlatform, startModelPlatform } from '../testing/model-platform.ts';
import type { Death } from '../testing/mortal-client.ts';
import { bindingObject, definitionOf, policyObject } from '../testing/objects.ts';
import { waitForCondition } from '../testing/start-test-operator.ts';

const policies = kinds.guardrailPolicy;

/** The policy `guard` with labels and annotations that users wrote. */
function noted(change: Partial<GuardrailPolicy['spec']> = {}): GuardrailPolicy {
  const policy = policyObject('guard');
  const metadata = { ...policy.metadata, labels: { team: 'a' }, annotations: { note: 'of the owner' } };
  return { ...policy, metadata, spec: { ...policy.spec, refusalText: 'Not allowed here.', ...change } };
}

async function livePolicy({ platform }: ModelPlatform): Promise<Stored<GuardrailPolicy> | undefined> {
  return platform.client.get<GuardrailPolicy>(policies, 'guard');
}

async function routeOf({ platform }: ModelPlatform): Promise<Stored<GatewayRoute> | undefined> {
  return platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
}

/** A binding that the policy guards, and the deletion of the policy, which the binding holds. */
async function startDeleting(model: ModelPlatform, death?: Death): Promise<Stored<GuardrailPolicy>> {
  const { client } = model.platform;
  await client.create(policies, noted());
  await client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(model.platform, 'chat', 'Applied', 'True');
  await model.revive(death);
  const policy = await livePolicy(model);
  if (policy === undefined) throw new Error('there is no policy');
  await deleteConfirmed(model.platform.client, policies, policy);
  return policy;
}

async function untilExistsAgain(model: ModelPlatform, uid: string): Promise<Stored<GuardrailPolicy>> {
  return until('the policy exists again', async () => {
    if (model.isDead()) await model.revive();
    const live = await livePolicy(model);
    const isNew = live !== undefined && live.metadata.uid !== uid && live.status?.latestRevision !== undefined;
    return isNew && live;
  });
}

async function marks({ platform }: ModelPlatform): Promise<readonly Stored<PolicyRevision>[]> {
  return (await platform.client.list<PolicyRevision>(kinds.policyRevision, { labelSelector: restoreMark })).items;
}

/** @returns the number of writes of the operator that took the deletion back */
async function keep(death?: Death): Promise<number> {
  await using model = await startModelPlatform();
  const deleted = await startDeleting(model, death);
  const before = await routeOf(model);
  const result = await applyManifest(
    model.platform.client,
    { kind: policies, resource: noted() },
    { token: 'when_changed' },
  );
  expect(result.action).toBe('restored');
  const again = await untilExistsAgain(model, deleted.metadata.uid);
  const writes = model.writes();
  expect(again.spec).toEqual(deleted.spec);
  expect(again.metadata.labels).toEqual({ team: 'a', [idLabel]: deleted.metadata.labels?.[idLabel] });
  expect(again.metadata.annotations).toMatchObject({ note: 'of the owner' });
  expect(again.metadata.annotations).not.toHaveProperty([keepAnnotation]);
  expect(again.status?.latestRevision?.number).toBe(1);
  await until('the mark is removed', async () => (await marks(model)).length === 0);
  await model.settledOrDead();
  const { items } = await model.platform.client.list<PolicyRevision>(kinds.policyRevision);
  expect(items.map(({ spec }) => spec.number)).toEqual([1]);
  // The route was not written, so that no request could see a different route.
  expect((await routeOf(model))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  await waitForCondition(model.platform, 'chat', 'Applied', 'True');
  return writes;
}

test('a policy that is applied again while it is being deleted exists again, and its bindings keep their application', async () => {
  expect(await keep()).toBeGreaterThan(3);
});

test('the deletion of a policy is cancelled even if the operator is killed at any of its writes', async () => {
  const writes = await keep();
  for (let write = 1; write <= writes; write++) {
    for (const moment of ['before', 'after'] as const) {
      await keep({ write, moment }).catch((error: unknown) => {
        throw new Error(`after the death ${JSON.stringify({ write, moment })}: ${String(error)}`, { cause: error });
      });
    }
  }
});

test('a changed policy that is applied again while it is being deleted continues its revisions', async () => {
  await using model = await startModelPlatform();
  const deleted = await startDeleting(model);
  const resource = noted({ definition: definitionOf('changed') });
  await applyManifest(model.platform.client, { kind: policies, resource }, { token: 'when_changed' });
  const again = await untilExistsAgain(model, deleted.metadata.uid);
  expect(again.status?.latestRevision?.number).toBe(2);
  expect(again.spec.definition).toEqual(definitionOf('changed'));
});

test('a policy that was kept once is deleted by the next deletion, also across a restart of the operator', async () => {
  await using model = await startModelPlatform();
  const deleted = await startDeleting(model);
  const { client } = model.platform;
  await applyManifest(client, { kind: policies, resource: noted() });
  const again = await untilExistsAgain(model, deleted.metadata.uid);
  const binding = await client.get(kinds.modelBinding, 'chat');
  if (binding !== undefined) await deleteConfirmed(client, kinds.modelBinding, binding);
  await deleteConfirmed(client, policies, again);
  await until(
    'a policy whose deletion was cancelled once is deleted by the next deletion, even across a restart of the operator',
    async () => (await livePolicy(model)) === undefined,
  );
  await model.revive();
  await model.platform.client.create(policies, policyObject('another'));
  await until('the new operator is at work', async () => {
    return (
      (await model.platform.client.get<GuardrailPolicy>(policies, 'another'))?.status?.latestRevision !== undefined
    );
  });
  expect(await livePolicy(model)).toBeUndefined();
});

test('a keep annotation with the time of another deletion does not cancel a deletion', async () => {
  await using model = await startModelPlatform();
  const deleted = await startDeleting(model);
  const { client } = model.platform;
  await client.patch(policies, 'guard', [
    { op: 'add', path: `/metadata/annotations/${keepAnnotation.replace('/', '~1')}`, value: '2026-01-01T00:00:00Z' },
  ]);
  const held = await until('the condition names the binding and the remedy', async () => {
    const live = await livePolicy(model);
    return live?.status?.conditions?.find(({ reason }) => reason === 'DeletionHeld')?.message;
  });
  const live = await livePolicy(model);
  expect(live?.metadata.uid).toBe(deleted.metadata.uid);
  expect(held).toContain(`${keepAnnotation} to ${live?.metadata.deletionTimestamp}`);
});
