import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCheckClient } from '#checks/client';
import { regexEngine } from '#contracts/local-rules';
import type { Section } from '#contracts/policy';
import { openTokenFile } from '#kit/http/token-file';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { verifies } from '../../e2e/support/verifies.ts';
import { type FakeReplica, startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../testing/objects.ts';
import {
  applyFirst,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

/** The decision of a route's runtime about a user text. */
async function decide(platform: TestOperator, route: Stored<GatewayRoute>, content: string): Promise<string> {
  const { guardrail, contentProfile } = route.spec;
  if (guardrail.mode !== 'Policy') return 'unguarded';
  await using checks = createCheckClient({ tokenFile: openTokenFile(join(platform.data, 'tokens', 'runtime.token')) });
  const target = { ...guardrail, contentProfile, deadlineMs: guardrail.deadlineMs.request };
  return (await checks.check(target, 'request', [{ role: 'user', content }])).kind;
}

describe('an application', () => {
  let platform: TestOperator;
  let one: FakeReplica;
  let two: FakeReplica;
  let first: Stored<GatewayRoute>;
  beforeAll(async () => {
    platform = await startTestOperator();
    one = await startFakeReplica(platform, 'gateway-1');
    two = await startFakeReplica(platform, 'gateway-2');
    first = await applyFirst(platform, [one, two]);
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  test('an application runs its revision in a separate process and reports its progress', async () => {
    const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, 'chat');
    expect(binding?.status?.applications).toMatchObject([
      { outcome: 'Applied', generationId: first.spec.generationId, policyRevision: 1, operationId: '' },
    ]);
    expect(binding?.status?.pinned).toMatchObject({ generationId: first.spec.generationId, policyRevision: 1 });
    const generation = await platform.client.get<RuntimeWorkload>(kinds.runtimeWorkload, first.spec.workload ?? '');
    expect(generation?.status).toMatchObject({ state: 'Ready', readyReplicas: 1 });
    expect(await decide(platform, first, 'about the portal')).toBe('deny');
  });

  verifies(
    ['guardrail:versioning:reapply-gives-new-behaviour', 'guardrail:generation:new-version-new-process'],
    'a saved revision changes nothing until it is applied, and then runs in its own process',
    async () => {
      const revision = await editPolicy(platform, 'guard', { definition: definitionOf('harbour') });
      expect(revision).toBe(2);
      const before = await waitForRoute(platform, 'chat', 'the route stands', () => true);
      expect(before.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(await decide(platform, before, 'about the harbour')).toBe('pass');

      await editBinding(platform, 'chat', { guardrail: guardedBy(2), apply: 'second' });
      const after = await waitForRoute(platform, 'chat', 'revision 2 is pinned', ({ spec }) => spec.token === 'second');
      expect(await decide(platform, after, 'about the harbour')).toBe('deny');
      expect(after.spec.workload).not.toBe(before.spec.workload);
      expect(after.spec.guardrail).not.toMatchObject({
        addresses: (before.spec.guardrail as { addresses?: string[] }).addresses,
      });
      // The old process has only the old revision, and rejects the new revision.
      expect(await decide(platform, before, 'about the harbour')).toBe('pass');
      const mixed = { ...before.spec.guardrail, policyRevision: '2' } as GatewayRoute['spec']['guardrail'];
      expect(await decide(platform, { ...before, spec: { ...before.spec, guardrail: mixed } }, 'hello')).toBe('failed');
    },
  );

  verifies(
    ['guardrail:versioning:wait-for-replicas'],
    'an application is complete only when every ready replica has confirmed its route',
    async () => {
      await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
      await one.report('take');
      const half = await until('the operator has read the first report', async () => {
        const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, 'chat');
        const applied = binding?.status?.conditions?.find((condition) => condition.type === 'Applied');
        return applied?.message.includes('gateway-1') === false ? applied : undefined;
      });
      expect(half).toMatchObject({ status: 'Unknown', reason: 'WaitingForReplicas' });
      expect(half.message).toContain('gateway-2');
      await two.report('pend');
      await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
      await two.report('take');
      const binding = await waitForCondition(platform, 'chat', 'Applied', 'True');
      expect(binding.status?.applications?.[0]).toMatchObject({ operationId: 'second', outcome: 'Applied' });
    },
  );

  test('a replaced workload is removed when no replica uses it', async () => {
    await until('the first workload is deleted', async () => {
      const { items } = await platform.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
      return items.every((item) => item.metadata.name !== first.spec.workload);
    });
    await until(
      'the process of the first workload has ended',
      async () => (await decide(platform, first, 'hello')) === 'failed',
    );
  });

  verifies(
    ['guardrail:versioning:reapply-new-generation', 'guardrail:versioning:reapply-policy-unchanged'],
    'applying the same revision again makes a new generation of the application and does not change the policy',
    async () => {
      const before = await waitForRoute(platform, 'chat', 'the route stands', () => true);
      await editBinding(platform, 'chat', { apply: 'third' });
      const after = await waitForRoute(
        platform,
        'chat',
        'the revision is applied again',
        ({ spec }) => spec.token === 'third',
      );
      expect(after.spec.generationId).not.toBe(before.spec.generationId);
      expect(after.spec.guardrail).toEqual(before.spec.guardrail);
      await one.report('take');
      await two.report('take');
      const binding = await waitForCondition(platform, 'chat', 'Applied', 'True');
      expect(binding.status?.applications?.map(({ generationId }) => generationId)).toEqual([
        after.spec.generationId,
        before.spec.generationId,
        first.spec.generationId,
      ]);
      const { items } = await platform.client.list<PolicyRevision>(kinds.policyRevision);
      expect(items.map(({ spec }) => spec.number).toSorted()).toEqual([1, 2]);
    },
  );
});

verifies(
  ['guardrail:versioning:reapply-gives-new-behaviour'],
  'a saved revision allows streams only after it is applied again under the current profile',
  async () => {
    await using platform = await startTestOperator();
    const replica = await startFakeReplica(platform, 'gateway-1');
    await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
    const contentProfile = 'gateway-1.5.0-text-webhook-v1';
    await platform.client.create(kinds.modelBinding, bindingObject('chat', { contentProfile, apply: 'first' }));
    const older = await waitForRoute(platform, 'chat', 'the route is written', () => true);
    await replica.report('take');
    await waitForCondition(platform, 'chat', 'Applied', 'True');
    expect(older.spec).toMatchObject({ contentProfile, guardrail: { policyRevision: '1' } });

    await editBinding(platform, 'chat', { contentProfile: 'gateway-1.5.0-chat-webhook-v2', apply: 'second' });
    const newer = await waitForRoute(
      platform,
      'chat',
      'the revision is applied again',
      ({ spec }) => spec.token === 'second',
    );
    expect(newer.spec).toMatchObject({
      contentProfile: 'gateway-1.5.0-chat-webhook-v2',
      guardrail: { policyRevision: '1', streaming: { allowed: true } },
    });
    expect(newer.spec.generationId).not.toBe(older.spec.generationId);
    expect(newer.spec.workload).not.toBe(older.spec.workload);
    expect(await decide(platform, newer, 'about the portal')).toBe('deny');
    const { items } = await platform.client.list<PolicyRevision>(kinds.policyRevision);
    expect(items).toHaveLength(1);
  },
);

verifies(
  ['gateway:stream:whole-document-needs-stream-false'],
  'a response rule with an anchored pattern makes a route that refuses streams and names the rule',
  async () => {
    await using platform = await startTestOperator();
    const replica = await startFakeReplica(platform, 'gateway-1');
    const { request, response } = definitionOf('portal');
    const rule: Section['additional'][number] = {
      id: 'whole-answer',
      kind: 'regex',
      mode: 'enforce',
      timeoutMs: 20,
      action: { type: 'deny' },
      regex: { engine: regexEngine, pattern: '^begins', caseSensitive: true },
    };
    const definition = { request, response: { ...response, additional: [rule] }, providers: [] };
    await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { definition }));
    await platform.client.create(kinds.modelBinding, bindingObject('chat'));
    const route = await waitForRoute(platform, 'chat', 'the route is written', () => true);
    expect(route.spec.guardrail).toMatchObject({ streaming: { allowed: false, rule: 'whole-answer' } });
    await replica.report('take');
    const binding = await waitForCondition(platform, 'chat', 'Applied', 'True');
    const runtime = binding.status?.conditions?.find(({ type }) => type === 'WorkloadReady');
    expect(runtime?.message).toContain('Streams are refused because of whole-answer');
    await editBinding(platform, 'chat', { streaming: 'Allowed' });
    await waitForRoute(platform, 'chat', 'the mode is written', ({ spec }) => spec.streaming === 'Allowed');
    await replica.report('take');
    const isNoted = ({ message }: { readonly message?: string | undefined }): boolean =>
      message?.includes('Streams are served although whole-answer') === true;
    await until('the condition says that the rule may miss a match', async () => {
      const now = (await platform.client.get(kinds.modelBinding, 'chat')) as Stored<ModelBinding> | undefined;
      return now?.status?.conditions?.some(isNoted) === true;
    });
    const plain = await editPolicy(platform, 'guard', { definition: definitionOf('portal') });
    await editBinding(platform, 'chat', { guardrail: guardedBy(plain), apply: 'plain' });
    const next = await waitForRoute(
      platform,
      'chat',
      'the plain policy is pinned',
      ({ spec }) => spec.token === 'plain',
    );
    expect(next.spec.guardrail).toMatchObject({ streaming: { allowed: true } });
  },
);

test('an application without a ready replica is not applied until the first replica loads its route', async () => {
  await using platform = await startTestOperator();
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  const waiting = await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  expect(waiting.status?.conditions?.find(({ type }) => type === 'Applied')?.message).toContain('no replica');
  const replica = await startFakeReplica(platform, 'gateway-1');
  await replica.report('take', { ready: false });
  await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Applied', 'True');
});
