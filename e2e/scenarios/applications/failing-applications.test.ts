import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Definition } from '#contracts/policy';
import type { PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import {
  applyRevision,
  bindingCondition,
  bindingNow,
  bindingOf,
  policyOf,
  writePolicy,
} from '../../support/resources.ts';
import { maskedTerm } from '../../support/sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { type Platform, startPlatform } from '../../support/start-platform.ts';
import { isGuarded, stampedDefinition, stampsServed } from './stamped-policy.ts';

const alias = 'steady';
const earlier = '[earlier]';

let upstream: ScriptedUpstream;
let platform: Platform;
beforeAll(async () => {
  upstream = await startScriptedUpstream({ kind: 'answer', content: maskedTerm });
  platform = await startPlatform({
    gateways: 2,
    providers: [
      { name: 'scripted', kind: 'model', endpoint: `${upstream.url}/v1`, enabled: true },
      { name: 'away', kind: 'detector', endpoint: 'http://127.0.0.1:9/check', credential: 'away' },
    ],
    secrets: { away: 'a-secret\n' },
  });
  const revision = await writePolicy(platform.client, policyOf(alias, stampedDefinition(earlier)));
  await platform.client.create(kinds.modelBinding, bindingOf(alias, alias, revision));
  await bindingCondition(platform.client, alias, 'Applied', 'True');
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function expectEarlierServes(): Promise<void> {
  expect(await stampsServed(platform, alias)).toEqual([earlier, earlier]);
  expect(await isGuarded(platform, alias)).toBe(true);
}

type Rule = Definition['request']['baseline'][number];

function withRule(rule: Rule, providers: Definition['providers'] = []): Definition {
  const definition = stampedDefinition('[broken]');
  return { ...definition, providers, request: { ...definition.request, baseline: [rule] } };
}

function regexRule(pattern: string): Rule {
  const regex = { engine: 're2-1.1.20251105' as const, pattern, caseSensitive: true };
  return { id: 'the-culprit', kind: 'regex', timeoutMs: 20, action: { type: 'deny' }, regex };
}

function detectorRule(provider: string): Rule {
  const contract = 'platform.guardrail-runtime.detector/v1' as const;
  return {
    id: 'the-culprit',
    kind: 'external_pipeline',
    timeoutMs: 200,
    action: { type: 'deny' },
    externalPipeline: { provider, contract },
  };
}

const failingTest: PolicyTest = {
  name: 'the-culprit',
  stage: 'request',
  messages: [{ role: 'user', content: 'a harmless question' }],
  expect: 'Reject',
};

type Case = {
  readonly name: string;
  readonly definition: Definition;
  readonly tests?: readonly PolicyTest[];
  readonly reason: string;
  /** Text that the message of the condition must contain. */
  readonly says: string;
};

const cases: readonly Case[] = [
  {
    name: 'a pattern that does not compile',
    definition: withRule(regexRule('(unclosed')),
    reason: 'bundle_invalid',
    says: 'the-culprit',
  },
  {
    name: 'a rule that is too costly',
    definition: withRule(regexRule('a.{0,900}b.{0,900}c.{0,900}d')),
    reason: 'rule_too_costly',
    says: 'the-culprit',
  },
  {
    name: 'a failing policy test',
    definition: stampedDefinition('[broken]'),
    tests: [failingTest],
    reason: 'policy_tests_failed',
    says: 'the-culprit',
  },
  {
    name: 'a provider that is not approved',
    definition: withRule(detectorRule('absent'), [{ name: 'absent', credentialRef: { name: 'absent' } }]),
    reason: 'provider_unknown',
    says: 'absent',
  },
  {
    name: 'a provider with another credential',
    definition: withRule(detectorRule('away'), [{ name: 'away', credentialRef: { name: 'other' } }]),
    reason: 'provider_unknown',
    says: 'away',
  },
  {
    name: 'a provider that does not answer',
    definition: withRule(detectorRule('away'), [{ name: 'away', credentialRef: { name: 'away' } }]),
    reason: 'provider_unavailable',
    says: 'away',
  },
];

describe('an application that fails before its route is written leaves the earlier application serving on every replica', () => {
  test.each(cases)(
    'an application with $name fails with $reason',
    async ({ name, definition, tests, reason, says }) => {
      await expectEarlierServes();
      const revision = await writePolicy(platform.client, policyOf(alias, definition, tests ?? []));
      await applyRevision(platform.client, alias, revision, name);
      const condition = await bindingCondition(platform.client, alias, 'Applied', 'False');
      expect(condition.message).toContain(says);
      const [last] = (await bindingNow(platform.client, alias)).status?.applications ?? [];
      expect(last).toMatchObject({ operationId: name, outcome: 'Failed', reason, policyRevision: revision });
      await expectEarlierServes();
    },
  );

  test('a binding waits for a missing revision and names it in its condition', async () => {
    await applyRevision(platform.client, alias, 99, 'no such revision');
    const condition = await bindingCondition(platform.client, alias, 'Ready', 'False');
    expect(condition).toMatchObject({ reason: 'PolicyRevisionUnknown', message: expect.stringContaining('99') });
    await expectEarlierServes();
  });

  test('an application of an archived policy fails with policy_archived', async () => {
    const policy = policyOf(alias, stampedDefinition('[archived]'));
    const revision = await writePolicy(platform.client, { ...policy, spec: { ...policy.spec, lifecycle: 'Archived' } });
    await applyRevision(platform.client, alias, revision, 'archived');
    await bindingCondition(platform.client, alias, 'Applied', 'False');
    const [last] = (await bindingNow(platform.client, alias)).status?.applications ?? [];
    expect(last).toMatchObject({ outcome: 'Failed', reason: 'policy_archived' });
    await expectEarlierServes();
  });

  test('an existing revision is applied after a missing one', async () => {
    const revision = await writePolicy(platform.client, policyOf(alias, stampedDefinition('[later]')));
    await applyRevision(platform.client, alias, revision, 'right');
    await bindingCondition(platform.client, alias, 'Applied', 'True');
    expect(await stampsServed(platform, alias)).toEqual(['[later]', '[later]']);

    await applyRevision(platform.client, alias, 99, 'after a success');
    await bindingCondition(platform.client, alias, 'Ready', 'False');
    expect((await bindingCondition(platform.client, alias, 'Applied', 'Unknown')).reason).toBe('Pending');
    expect(await stampsServed(platform, alias)).toEqual(['[later]', '[later]']);
  });
});
