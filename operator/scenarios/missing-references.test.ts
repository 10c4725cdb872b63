import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { regexEngine } from '#contracts/local-rules';
import { type Definition, detectorContract } from '#contracts/policy';
import { answers, startScriptedHttp } from '#kit/testing/scripted-http';
import { kinds } from '#resources/kinds';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../testing/objects.ts';
import {
  applyFirst,
  createSkippingClock,
  createTestPolicy,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  testProviders,
  touchBinding,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

const later = `${testProviders}
  - { name: later, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }
`;

/** A condition of the binding names the missing dependency. */
async function expectMissing(platform: TestOperator, reason: string, says: string): Promise<void> {
  const { status } = await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', reason);
  expect(status?.conditions?.find(({ type }) => type === 'ResolvedRefs')?.message).toContain(says);
}

test.concurrent('a condition names a missing policy, and the binding is applied when it appears', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await expectMissing(platform, 'PolicyNotFound', 'the policy guard of');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Ready', 'True');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
});

test.concurrent('a policy that appears after the progress deadline is applied', async () => {
  await using platform = await startTestOperator({ config: { progressDeadlineMs: 1_000 } });
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(platform, 'chat', 'Applied', 'False');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
});

test.concurrent('a condition names a missing revision, and it is applied when it appears', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  await editBinding(platform, 'chat', { guardrail: guardedBy(2), apply: 'two' });
  await expectMissing(platform, 'PolicyRevisionUnknown', 'revision 2');
  await editPolicy(platform, 'guard', { definition: definitionOf('harbour') });
  await waitForRoute(platform, 'chat', 'two is pinned', ({ spec }) => spec.token === 'two');
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Applied', 'True');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
});

test.concurrent('a condition names a model provider that is not approved, and it is used when it is approved', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  const model = { alias: 'chat', provider: 'later', upstreamModel: 'echo', state: 'Enabled' } as const;
  await editBinding(platform, 'chat', { model });
  await expectMissing(platform, 'ProviderUnknown', 'later');
  await writeFile(join(platform.data, 'providers.yaml'), later);
  await platform.restart();
  await waitForRoute(platform, 'chat', 'the provider is used', ({ spec }) => spec.upstream.provider === 'later');
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
  await waitForCondition(platform, 'chat', 'Ready', 'True');
});

type Rule = Definition['request']['additional'][number];

function withRule(rule: Rule, providers: Definition['providers'] = []): Definition {
  const { request, response } = definitionOf('portal');
  return { request: { ...request, deadlineMs: 5_000, additional: [rule] }, response, providers };
}

/** A policy that calls the detector `pii`, whose credential is `pii-key`. */
function asking(mode: Rule['mode']): Definition {
  const externalPipeline = { provider: 'pii', contract: detectorContract } as const;
  const rule = { id: 'asks', kind: 'external_pipeline', timeoutMs: 4_000, action: { type: 'deny' } } as const;
  return withRule({ ...rule, externalPipeline, mode }, [{ name: 'pii', credentialRef: { name: 'pii-key' } }]);
}

/** Outcomes of the binding, the newest first. */
async function outcomesOf(platform: TestOperator): Promise<readonly (string | undefined)[]> {
  const { status } = await waitForCondition(platform, 'chat', 'Ready', 'True');
  return (status?.applications ?? []).map(({ outcome, reason }) => reason ?? outcome);
}

test.concurrent('a revision that appears after the progress deadline is applied', async () => {
  await using platform = await startTestOperator({ config: { progressDeadlineMs: 1_000 } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await createTestPolicy(platform, 'guard');
  await platform.client.create(kinds.modelBinding, bindingObject('chat', { guardrail: guardedBy(2) }));
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'PolicyRevisionUnknown');
  await platform.restart({ progressDeadlineMs: 600_000 });
  await expectMissing(platform, 'PolicyRevisionUnknown', 'timed out: the policy has no revision 2');
  await editPolicy(platform, 'guard', { definition: definitionOf('harbour') });
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  expect(await outcomesOf(platform)).toEqual(['Applied', 'policy_revision_unknown']);
});

test.concurrent('an application that failed because of its model provider is retried when the provider is approved', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const model = { alias: 'chat', provider: 'later', upstreamModel: 'echo', state: 'Enabled' } as const;
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat', { model }));
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProviderUnknown');
  await platform.restart();
  await expectMissing(platform, 'ProviderUnknown', 'the provider later of spec.model.provider');
  await writeFile(join(platform.data, 'providers.yaml'), later);
  await platform.restart();
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  expect(await outcomesOf(platform)).toEqual(['Applied', 'provider_unknown']);
});

test.concurrent('an application that failed because of a provider of its policy is retried when the provider is approved', async () => {
  const definition = asking('observe');
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { definition }));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await expectMissing(platform, 'ProviderUnknown', 'pii');
  await mkdir(join(platform.data, 'secrets'), { recursive: true });
  await writeFile(join(platform.data, 'secrets/pii-key'), 'a-secret\n');
  const approved = '{ name: pii, kind: detector, endpoint: "http://127.0.0.1:9/check", credential: pii-key }';
  await writeFile(join(platform.data, 'providers.yaml'), `${testProviders}  - ${approved}\n`);
  await platform.restart();
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  expect(await outcomesOf(platform)).toEqual(['Applied', 'provider_unknown']);
});

test.concurrent.each([
  { when: 'in time', isLate: false },
  { when: 'after the progress deadline', isLate: true },
])('a condition names a missing credential, and the binding is applied when it appears $when', async ({ isLate }) => {
  await using detector = await startScriptedHttp(answers({ decision: 'allow' }));
  const definition = asking('enforce');
  const approved = `  - { name: pii, kind: detector, endpoint: "${detector.url}", credential: pii-key }\n`;
  const clock = createSkippingClock();
  await using platform = await startTestOperator({
    overrides: { clock },
    providers: `${testProviders}${approved}`,
  });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { definition }));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  let missing = await waitForCondition(platform, 'chat', 'WorkloadReady', 'False', 'CredentialMissing');
  if (isLate) {
    clock.skip(600_000);
    await touchBinding(platform, 'chat');
    missing = await waitForCondition(platform, 'chat', 'WorkloadReady', 'False', 'ProgressDeadlineExceeded');
  }
  const { status } = missing;
  const message = status?.conditions?.find(({ type }) => type === 'WorkloadReady')?.message;
  expect(message).toContain('the provider pii is not called until its credential pii-key can be read (unreadable)');
  expect((status?.applications ?? []).map((record) => record.reason)).toEqual(
    isLate ? ['progress_deadline_exceeded'] : [],
  );
  expect(detector.seen).toHaveLength(0);
  await writeFile(join(platform.data, 'secrets/pii-key'), 'a-secret\n');
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  expect((await outcomesOf(platform))[0]).toBe('Applied');
  expect(detector.seen).toHaveLength(1);
});

test.concurrent('a retried application that then misses another dependency fails with that reason', async () => {
  await using platform = await startTestOperator();
  const model = { alias: 'chat', provider: 'later', upstreamModel: 'echo', state: 'Enabled' } as const;
  const regex = { engine: regexEngine, pattern: '(unclosed', caseSensitive: true } as const;
  const definition = withRule({
    id: 'culprit',
    kind: 'regex',
    timeoutMs: 50,
    action: { type: 'deny' },
    regex,
    mode: 'enforce',
  });
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { definition }));
  await platform.client.create(kinds.modelBinding, bindingObject('chat', { model }));
  await expectMissing(platform, 'ProviderUnknown', 'later');
  await writeFile(join(platform.data, 'providers.yaml'), later);
  await platform.restart();
  const { status } = await waitForCondition(platform, 'chat', 'Applied', 'False', 'BundleInvalid');
  expect(status?.applications?.map(({ reason }) => reason)).toEqual(['bundle_invalid', 'provider_unknown']);
});
