import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { regexEngine } from '#contracts/local-rules';
import type { Definition, Section } from '#contracts/policy';
import { detectorContract } from '#contracts/policy';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import type { PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBindingSpec } from '#resources/model-binding';
import { type FakeReplica, startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../testing/objects.ts';
import {
  applyFirst,
  createSkippingClock,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  testProviders,
  touchBinding,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

const providers = `${testProviders}
  - { name: away, kind: detector, endpoint: "http://127.0.0.1:9/check", credential: away-key }
`;

function withRule(rule: Section['baseline'][number], listed: Definition['providers'] = []): Definition {
  const { request, response } = definitionOf('portal');
  return { request: { ...request, baseline: [rule, ...request.baseline] }, response, providers: listed };
}

function patternRule(pattern: string, timeoutMs = 20): Section['baseline'][number] {
  const regex = { engine: regexEngine, pattern, caseSensitive: true } as const;
  return { id: 'culprit', kind: 'regex', timeoutMs, action: { type: 'deny' }, regex };
}

function detectorRule(provider: string): Section['baseline'][number] {
  const externalPipeline = { provider, contract: detectorContract } as const;
  return { id: 'culprit', kind: 'external_pipeline', timeoutMs: 200, action: { type: 'deny' }, externalPipeline };
}

function testOf(expected: PolicyTest['expect'], content: string): PolicyTest {
  return { name: 'the failing test', stage: 'request', messages: [{ role: 'user', content }], expect: expected };
}

type Case = {
  readonly title: string;
  readonly policy?: { readonly definition?: Definition; readonly tests?: PolicyTest[] };
  readonly binding?: Partial<ModelBindingSpec>;
  readonly reason: string;
  readonly says: readonly string[];
};

const cases: readonly Case[] = [
  {
    title: 'a pattern that does not compile',
    policy: { definition: withRule(patternRule('(?=a)')) },
    reason: 'BundleInvalid',
    says: ['policy guard: request section, rule culprit: (?= is not supported'],
  },
  {
    title: 'a rule that costs too much',
    policy: { definition: withRule(patternRule('a.{0,900}b.{0,900}c.{0,900}d')) },
    reason: 'RuleTooCostly',
    says: ['policy guard: request section, rule culprit: ', ' on 32768 bytes (maxBodyBytes)', ': write it narrower, '],
  },
  {
    title: 'a policy test that fails',
    policy: { definition: definitionOf('portal'), tests: [testOf('Reject', 'a harmless text')] },
    reason: 'PolicyTestsFailed',
    says: ['the failing test', 'expects Reject', 'got Pass'],
  },
  {
    title: 'a provider that is not approved',
    policy: { definition: withRule(detectorRule('nobody'), [{ name: 'nobody', credentialRef: { name: 'x' } }]) },
    reason: 'ProviderUnknown',
    says: ['nobody'],
  },
  {
    title: 'an approved provider with another credential',
    policy: { definition: withRule(detectorRule('away'), [{ name: 'away', credentialRef: { name: 'x' } }]) },
    reason: 'ProviderUnknown',
    says: ['away-key'],
  },
  {
    title: 'a provider that does not answer',
    policy: { definition: withRule(detectorRule('away'), [{ name: 'away', credentialRef: { name: 'away-key' } }]) },
    reason: 'ProviderUnavailable',
    says: ['away', 'culprit'],
  },
  {
    title: 'an unknown content profile',
    policy: { definition: definitionOf('bridge') },
    binding: { contentProfile: 'gateway-9' },
    reason: 'ProfileUnsupported',
    says: ['gateway-9', 'contentProfile'],
  },
];

describe('an application that fails before its route is written', () => {
  let platform: TestOperator;
  let replica: FakeReplica;
  let first: Stored<GatewayRoute>;
  beforeAll(async () => {
    platform = await startTestOperator({ providers });
    await writeFile(join(platform.data, 'secrets/away-key'), 'a-secret\n');
    replica = await startFakeReplica(platform, 'gateway-1');
    first = await applyFirst(platform, [replica]);
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  test.each(cases)(
    'an application that fails because of $title leaves the current one serving',
    async ({ policy, binding, reason, says, title }) => {
      const revision = await editPolicy(platform, 'guard', { tests: [], ...policy });
      await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: title, ...binding });
      const failed = await waitForCondition(platform, 'chat', 'Applied', 'False', reason);
      const message = failed.status?.conditions?.find(({ type }) => type === 'Applied')?.message ?? '';
      for (const word of says) expect(message).toContain(word);
      expect(message).toContain('The previous application keeps serving.');
      expect(failed.status?.applications?.[0]).toMatchObject({ operationId: title, outcome: 'Failed' });
      const route = await waitForRoute(platform, 'chat', 'the route stands', () => true);
      expect(route.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(failed.status?.pinned?.generationId).toBe(first.spec.generationId);
    },
  );

  test('after a failure, an edit that needs no application is written to the route, and the failure is still reported', async () => {
    const { spec } = await editBinding(platform, 'chat', {});
    await editBinding(platform, 'chat', { model: { ...spec.model, upstreamModel: 'other' } });
    const route = await waitForRoute(
      platform,
      'chat',
      'the edit arrives',
      (one) => one.spec.upstream.model === 'other',
    );
    expect(route.spec.generationId).toBe(first.spec.generationId);
    const failed = await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProfileUnsupported');
    expect(failed.status?.conditions?.find(({ type }) => type === 'Applied')?.message).toContain('gateway-9');
    expect(failed.status?.applications).toHaveLength(5);
  });

  test('an archived policy is not newly applied, but the pinned application may be applied again', async () => {
    const revision = await editPolicy(platform, 'guard', { lifecycle: 'Archived', definition: definitionOf('tower') });
    const profile = { contentProfile: first.spec.contentProfile };
    await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: 'archived', ...profile });
    await waitForCondition(platform, 'chat', 'Applied', 'False', 'PolicyArchived');
    await editBinding(platform, 'chat', { guardrail: guardedBy(1), apply: 'once-more', ...profile });
    const route = await waitForRoute(platform, 'chat', 'applied again', ({ spec }) => spec.token === 'once-more');
    expect(route.spec.generationId).not.toBe(first.spec.generationId);
    await replica.report('take');
    await waitForCondition(platform, 'chat', 'Applied', 'True');
  });
});

test.concurrent('the tests of a policy run once for each workload, however often it is applied', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'operator', level: 'info', destination });
  await using platform = await startTestOperator({ overrides: { logger } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  const tests = [testOf('Pass', 'hello'), { ...testOf('Reject', 'about the portal'), name: 'another test' }];
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { tests }));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  for (const apply of ['second', 'third']) {
    await editBinding(platform, 'chat', { apply });
    await waitForRoute(platform, 'chat', `${apply} is pinned`, ({ spec }) => spec.token === apply);
    await replica.report('take');
    await waitForCondition(platform, 'chat', 'Applied', 'True');
  }
  expect(lines.filter((line) => line.includes('policy_tests_passed'))).toHaveLength(1);
});

test.concurrent('an application waits for a missing revision and fails at the progress deadline', async () => {
  const clock = createSkippingClock();
  await using platform = await startTestOperator({ overrides: { clock } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  await editBinding(platform, 'chat', { guardrail: guardedBy(9), apply: 'nine' });
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', 'PolicyRevisionUnknown');
  clock.skip(600_000);
  await touchBinding(platform, 'chat');
  const failed = await waitForCondition(platform, 'chat', 'Applied', 'False', 'PolicyRevisionUnknown');
  expect(failed.status?.applications?.[0]).toMatchObject({ operationId: 'nine', reason: 'policy_revision_unknown' });
});

test.concurrent('a binding waits for a policy that is created later', async () => {
  await using platform = await startTestOperator();
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', 'PolicyNotFound');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await until('references are resolved', async () => {
    const binding = await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
    return binding.status?.pinned !== undefined;
  });
});
