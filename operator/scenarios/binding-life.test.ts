import { expect, test, vi } from 'vitest';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { KubeClient } from '#kube/client/client';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { resyncMs } from '../composition/start-controllers.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject, definitionOf, policyObject } from '../testing/objects.ts';
import {
  applyFirst,
  createSkippingClock,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  waitFor,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

async function remove(platform: TestOperator, kind: (typeof kinds)[keyof typeof kinds], name: string): Promise<void> {
  const object = await platform.client.get(kind, name);
  if (object !== undefined) await deleteConfirmed(platform.client, kind, object);
}

function isGone(platform: TestOperator, kind: (typeof kinds)[keyof typeof kinds], name: string): Promise<true> {
  return until(`${kind.kind} ${name} is deleted`, async () => (await platform.client.get(kind, name)) === undefined);
}

test.concurrent('if two bindings have one alias, the one with the route keeps it; the other takes over when it is deleted', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  const model = bindingObject('chat').spec.model;
  await platform.client.create(kinds.modelBinding, bindingObject('another', { model }));
  const loser = await waitForCondition(platform, 'another', 'Accepted', 'False', 'AliasConflict');
  expect(loser.status?.conditions?.find(({ type }) => type === 'Accepted')?.message).toContain('chat');
  expect(await platform.client.get(kinds.gatewayRoute, 'another')).toBeUndefined();
  // No application of this binding is in progress.
  const blocked = loser.status?.conditions?.find(({ type }) => type === 'Applied');
  expect(blocked).toMatchObject({ status: 'False', reason: 'AliasConflict' });
  expect(blocked?.message).toContain('belongs to the binding chat. This binding serves no alias.');

  await remove(platform, kinds.modelBinding, 'chat');
  await isGone(platform, kinds.gatewayRoute, 'chat');
  await replica.report('take');
  await isGone(platform, kinds.modelBinding, 'chat');
  await waitForRoute(platform, 'another', 'the other binding holds the alias', ({ spec }) => spec.alias === 'chat');
  await waitForCondition(platform, 'another', 'Accepted', 'True');
  await replica.report('take');
  for (const type of ['Applied', 'Ready']) await waitForCondition(platform, 'another', type, 'True');
});

test.concurrent('a binding that requests the alias of another binding keeps its own alias', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  await platform.client.create(kinds.modelBinding, bindingObject('another'));
  await waitForRoute(platform, 'another', 'it has a route', () => true);
  // From this moment on an edit that protects less needs a confirmation, which `editBinding` takes from the status.
  await waitFor<ModelBinding>(
    platform,
    kinds.modelBinding,
    'another',
    'its policy is pinned',
    ({ status }) => status?.pinned?.policyId !== undefined,
  );
  await editBinding(platform, 'another', { model: { ...bindingObject('chat').spec.model, upstreamModel: 'moved' } });
  await waitForCondition(platform, 'another', 'Accepted', 'False', 'AliasConflict');
  const route = await waitForRoute(
    platform,
    'another',
    'the other fields of the edit are written',
    ({ spec }) => spec.upstream.model === 'moved',
  );
  expect(route.spec.alias).toBe('another');
});

test.concurrent('of two policies with one id the owner of the revisions keeps it; the other reports a conflict', async () => {
  await using platform = await startTestOperator();
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  const owner = await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    'guard',
    'it is recorded',
    (policy) => policy.status?.latestRevision !== undefined,
  );
  const id = owner.metadata.labels?.[idLabel] ?? '';
  const copy = policyObject('a-copy', { definition: definitionOf('other') });
  await platform.client.create(kinds.guardrailPolicy, {
    ...copy,
    metadata: { name: 'a-copy', labels: { [idLabel]: id } },
  });
  const refused = await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    'a-copy',
    'it is refused',
    (policy) =>
      policy.status?.conditions?.some(({ type, status }) => type === 'IdConflict' && status === 'True') === true,
  );
  expect(refused.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'IdConflict',
  });
  const { items } = await platform.client.list<PolicyRevision>(kinds.policyRevision);
  expect(items.map(({ spec }) => spec.policy.name)).toEqual(['guard']);
  await remove(platform, kinds.guardrailPolicy, 'a-copy');
  await isGone(platform, kinds.guardrailPolicy, 'a-copy');
});

test.concurrent('a policy is deleted when nothing refers to it; its revisions stay, and a new policy of the name continues the numbers', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  await remove(platform, kinds.guardrailPolicy, 'guard');
  const held = await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    'guard',
    'the finalizer holds the deletion',
    (policy) => policy.status?.conditions?.some(({ reason }) => reason === 'DeletionHeld') === true,
  );
  expect(held.status?.conditions?.find(({ reason }) => reason === 'DeletionHeld')?.message).toContain('binding chat');
  // A policy that is being deleted is not newly applied.
  await editBinding(platform, 'chat', { contentProfile: 'gateway-1.4.1-text-webhook-v1', apply: 'late' });
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'PolicyArchived');
  await editBinding(platform, 'chat', { guardrail: { mode: 'None' }, apply: 'open' });
  await waitForRoute(platform, 'chat', 'the model is unguarded', ({ spec }) => spec.guardrail.mode === 'None');
  expect(await platform.client.get(kinds.guardrailPolicy, 'guard')).toBeDefined();
  await replica.report('take');
  await isGone(platform, kinds.guardrailPolicy, 'guard');

  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { definition: definitionOf('new') }));
  const again = await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    'guard',
    'it is recorded',
    (policy) => policy.status?.latestRevision !== undefined,
  );
  expect(again.status?.latestRevision?.number).toBe(2);
  expect(again.metadata.labels?.[idLabel]).toBe(held.metadata.labels?.[idLabel]);
  const { items } = await platform.client.list<PolicyRevision>(kinds.policyRevision);
  expect(items.map(({ spec }) => spec.number).toSorted()).toEqual([1, 2]);
});

test.concurrent('a deleted binding is released when no replica uses the workload of its route', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const route = await applyFirst(platform, [replica]);
  const inUse = [{ workload: route.spec.workload ?? '', generationId: route.spec.generationId }];
  await remove(platform, kinds.modelBinding, 'chat');
  await isGone(platform, kinds.gatewayRoute, 'chat');
  await replica.report('take', { inUse });
  const held = await waitFor<ModelBinding>(
    platform,
    kinds.modelBinding,
    'chat',
    'the release waits',
    (binding) =>
      binding.status?.conditions?.some(
        ({ reason, message }) => reason === 'Deleting' && message.includes('gateway-1'),
      ) === true,
  );
  expect(held.status?.pinned?.generationId).toBe(route.spec.generationId);
  expect(await platform.client.get(kinds.runtimeWorkload, inUse[0]?.workload ?? '')).toBeDefined();
  await replica.report('take');
  await isGone(platform, kinds.modelBinding, 'chat');
  await isGone(platform, kinds.runtimeWorkload, inUse[0]?.workload ?? '');
});

test.concurrent('a deleted binding is kept until every replica, even an idle one, has seen the removal of its route', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  await replica.report('take', { inUse: [] });
  await remove(platform, kinds.modelBinding, 'chat');
  await isGone(platform, kinds.gatewayRoute, 'chat');
  await waitFor<ModelBinding>(
    platform,
    kinds.modelBinding,
    'chat',
    'the binding waits for the replica',
    ({ status }) =>
      status?.conditions?.some(({ type, message }) => type === 'Ready' && message.includes('gateway-1')) === true,
  );
  await replica.report('take', { inUse: [] });
  await isGone(platform, kinds.modelBinding, 'chat');
});

test.concurrent('a stream keeps its workload for the longest stream duration and no longer', async () => {
  const clock = createSkippingClock();
  await using platform = await startTestOperator({ overrides: { clock } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  const inUse = [{ workload: first.spec.workload ?? '', generationId: first.spec.generationId }];
  await editPolicy(platform, 'guard', { definition: definitionOf('second') });
  await editBinding(platform, 'chat', { guardrail: { mode: 'None' }, apply: 'open' });
  await waitForRoute(platform, 'chat', 'the model is unguarded', ({ spec }) => spec.guardrail.mode === 'None');
  await replica.report('take', { inUse });
  const draining = await waitFor<RuntimeWorkload>(
    platform,
    kinds.runtimeWorkload,
    inUse[0]?.workload ?? '',
    'it drains',
    ({ status }) => status?.state === 'Draining',
  );
  expect(draining.status?.conditions?.[0]?.message).toContain('gateway-1');
  expect(draining.spec.state).toBe('Active');
  clock.skip(900_000);
  await platform.client.patch(kinds.runtimeWorkload, draining.metadata.name, [
    { op: 'add', path: '/metadata/annotations', value: { note: 'touched' } },
  ]);
  await isGone(platform, kinds.runtimeWorkload, inUse[0]?.workload ?? '');
});

test.concurrent('a disabled model or provider keeps the pinned application', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  const { model } = bindingObject('chat').spec;
  await editBinding(platform, 'chat', { model: { ...model, state: 'Disabled' } });
  const off = await waitForRoute(platform, 'chat', 'it is off', ({ spec }) => spec.state === 'Disabled');
  expect(off.spec).toEqual({ ...first.spec, state: 'Disabled' });
  // An application while the model is off runs and ends normally.
  await editBinding(platform, 'chat', { apply: 'while-off' });
  await waitForRoute(platform, 'chat', 'it is applied', ({ spec }) => spec.token === 'while-off');
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Applied', 'True');
  await editBinding(platform, 'chat', { model: { ...model, provider: 'off' } });
  const elsewhere = await waitForRoute(
    platform,
    'chat',
    'the provider is disabled',
    ({ spec }) => spec.upstream.provider === 'off',
  );
  expect(elsewhere.spec.state).toBe('Disabled');
  // The name of a provider that is not approved has no effect.
  await editBinding(platform, 'chat', { model: { ...model, provider: 'unheard-of' } });
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', 'ProviderUnknown');
  const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  expect(route?.spec.upstream.provider).toBe('off');
});

test('an operator without work writes nothing, and after a restart it writes only differences', async () => {
  const calls: string[] = [];
  const wrapClient = (client: KubeClient): KubeClient => countCalls(client, calls);
  using intervals = vi.spyOn(globalThis, 'setInterval');
  await using platform = await startTestOperator({ overrides: { wrapClient } });
  const resyncs = intervals.mock.calls.filter(([, ms]) => ms === resyncMs);
  expect(resyncs).toHaveLength(1);
  const replica = await startFakeReplica(platform, 'gateway-1');
  const route = await applyFirst(platform, [replica]);
  await quiet(calls);

  calls.length = 0;
  for (const [resync] of resyncs) resync();
  await quiet(calls);
  // The bundle sweep reads even when the operator is idle, which proves that the resync ran.
  expect(calls).not.toEqual([]);
  expect(calls.filter((call) => !call.startsWith('get ') && !call.startsWith('list '))).toEqual([]);

  calls.length = 0;
  const touched = [
    [kinds.guardrailPolicy, 'guard'],
    [kinds.modelBinding, 'chat'],
    [kinds.gatewayRoute, 'chat'],
    [kinds.runtimeWorkload, route.spec.workload ?? ''],
  ] as const;
  for (const [kind, name] of touched) {
    await platform.client.patch(kind, name, [{ op: 'add', path: '/metadata/annotations', value: { note: 'a pass' } }]);
  }
  await replica.report('take');
  await quiet(calls);
  expect(calls).toEqual([]);

  await platform.restart({}, { wrapClient });
  await waitFor<RuntimeWorkload>(
    platform,
    kinds.runtimeWorkload,
    route.spec.workload ?? '',
    'it runs again',
    (one) => one.status?.state === 'Ready',
  );
  await quiet(calls);
  const writes = calls.filter((call) => !call.startsWith('get ') && !call.startsWith('list '));
  expect(new Set(writes)).toEqual(new Set(['patchStatus RuntimeWorkload']));
  const kept = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  expect(kept?.spec).toEqual(route.spec);
});

/** Records every call except watches, with the kind of its object. */
function countCalls(client: KubeClient, calls: string[]): KubeClient {
  return new Proxy(client, {
    get(target, member, receiver) {
      const value = Reflect.get(target, member, receiver);
      if (typeof value !== 'function' || member === 'watch') return value;
      return (...args: unknown[]) => {
        calls.push(`${String(member)} ${(args[0] as { kind: string }).kind}`);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

/** Waits until a whole second has passed without a call. */
async function quiet(calls: readonly string[]): Promise<void> {
  let last = -1;
  await until(
    'the operator makes no more calls',
    () => {
      const isQuiet = calls.length === last;
      last = calls.length;
      return isQuiet;
    },
    { everyMs: 1_000 },
  );
}
