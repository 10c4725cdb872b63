import { describe, expect, test } from 'vitest';
import type { CheckOutcome } from '#checks/client';
import { type Bundle, bundleSchemaName, defaultBundleLimits } from '#contracts/bundle';
import { detectorContract, type Section } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import type { PolicyTest } from '#resources/guardrail-policy';
import type { BundleCheckResult, Judge } from '../bundles/ports.ts';
import { sectionOf } from '../testing/objects.ts';
import { askProviders, providerQuestions } from './ask-providers.ts';
import { judgeTest } from './judge-test.ts';
import { runPolicyTests } from './run-policy-tests.ts';

function testOf(expected: PolicyTest['expect'], name = 'a test'): PolicyTest {
  return { name, stage: 'request', messages: [{ role: 'user', content: 'hello' }], expect: expected };
}

const outcomes = {
  Pass: { kind: 'pass' },
  Reject: { kind: 'deny' },
  Mask: { kind: 'mask', contents: ['x'] },
  Failed: { kind: 'failed', code: 'stage_timeout', message: 'm' },
} as const satisfies Record<string, CheckOutcome>;
type Decision = keyof typeof outcomes;

function local(decision: Decision): BundleCheckResult {
  return { name: 'a test', decision, code: undefined, rules: [] };
}

describe('a policy test', () => {
  test('a policy test of local rules passes only with the expected decision', () => {
    for (const expected of ['Pass', 'Reject', 'Mask'] as const) {
      for (const decision of ['Pass', 'Reject', 'Mask', 'Failed'] as const) {
        const verdict = judgeTest(testOf(expected), outcomes[decision], undefined);
        expect(verdict.kind).toBe(decision === expected ? 'passed' : 'failed');
      }
    }
  });

  test.each<readonly [PolicyTest['expect'], Decision, Decision, string]>([
    ['Pass', 'Reject', 'Pass', 'differs'],
    ['Pass', 'Reject', 'Reject', 'failed'],
    ['Reject', 'Pass', 'Pass', 'differs'],
    ['Mask', 'Reject', 'Mask', 'differs'],
    ['Mask', 'Pass', 'Pass', 'failed'],
    ['Reject', 'Mask', 'Mask', 'failed'],
  ])(
    'a policy test that expects %s, gets the verdict %s and the local verdict %s, is %s',
    (expected, decision, alone, kind) => {
      expect(judgeTest(testOf(expected), outcomes[decision], local(alone)).kind).toBe(kind);
    },
  );

  test('a failed policy test reports its name and the decision, never a text', () => {
    const verdict = judgeTest(testOf('Reject', 'no bombs'), outcomes.Failed, undefined);
    expect(verdict).toEqual({
      kind: 'failed',
      message: 'the policy test no bombs expects Reject at the request stage and got the failure stage_timeout',
    });
  });
});

const remote = {
  id: 'asks',
  kind: 'external_pipeline',
  timeoutMs: 40,
  action: { type: 'deny' },
  externalPipeline: { provider: 'spam', contract: detectorContract },
} as const;

function bundleOf(request: Section): Bundle {
  return {
    schema: bundleSchemaName,
    contentProfile: currentProfile,
    limits: defaultBundleLimits,
    policies: [{ id: 'p', revision: '1', request, response: sectionOf('x') }],
    providers: [{ name: 'spam', kind: 'detector', endpoint: 'http://127.0.0.1:1', credential: 'k' }],
  };
}

function judgeThatSays(results: (names: readonly string[]) => readonly BundleCheckResult[]) {
  const asked: { readonly bundle: Bundle; readonly providers: string }[] = [];
  const check: Judge['check'] = async (bundle, checks, { providers }) => {
    asked.push({ bundle, providers });
    return results(checks.map(({ name }) => name));
  };
  return { asked, check };
}

const { signal } = new AbortController();

describe('a run of policy tests', () => {
  const target = {
    addresses: [],
    policyId: 'p',
    policyRevision: '1',
    digest: 'd',
    contentProfile: currentProfile,
    maxBodyBytes: 1,
    maxMessages: 1,
    deadlineMs: 1,
  };

  function run(
    said: readonly CheckOutcome[],
    request: Section,
    tests: readonly PolicyTest[],
    alone: Decision = 'Pass',
  ) {
    let calls = 0;
    const check = async (): Promise<CheckOutcome> => said[Math.min(calls++, said.length - 1)] ?? outcomes.Failed;
    const judge = judgeThatSays((names) => names.map((name) => ({ ...local(alone), name })));
    const result = runPolicyTests(
      { checks: { check }, judge },
      { tests, bundle: bundleOf(request), targetOf: () => target, signal },
    );
    return { result, judge, calls: () => calls };
  }

  test('a run of policy tests reports every test that fails', async () => {
    const { result } = run([outcomes.Pass], sectionOf('x'), [
      testOf('Reject', 'one'),
      testOf('Pass', 'two'),
      testOf('Mask', 'three'),
    ]);
    const found = await result;
    expect(found).toMatchObject({ kind: 'failed' });
    expect(found.kind === 'failed' ? found.message : '').toMatch(/one.*three/);
  });

  test.each(['network', 'no_address', 'overloaded', 'policy_unavailable', 'timeout'] as const)(
    'a run of policy tests that encounters %s returns no result',
    async (code) => {
      const { result } = run([{ kind: 'failed', code, message: 'm' }], sectionOf('x'), [testOf('Pass')]);
      expect(await result).toMatchObject({ kind: 'broken', message: expect.stringContaining(code) });
    },
  );

  test('a policy test runs up to three times while a process starts', async () => {
    const slow = outcomes.Failed;
    const late = run([slow, slow, outcomes.Pass], sectionOf('x'), [testOf('Pass')]);
    expect(await late.result).toMatchObject({ kind: 'passed' });
    const always = run([slow], sectionOf('x'), [testOf('Pass')]);
    expect(await always.result).toMatchObject({ kind: 'failed' });
    expect(always.calls()).toBe(3);
  });

  test('where a stage calls providers, policy tests must pass by local rules only, and deviating verdicts of providers are reported', async () => {
    const request = { ...sectionOf('x'), baseline: [remote] };
    const { result, judge } = run([outcomes.Reject], request, [testOf('Pass')]);
    expect(await result).toMatchObject({ kind: 'passed', differences: [expect.stringContaining('a test')] });
    expect(judge.asked).toMatchObject([{ providers: 'skipped' }]);
    const unavailable = { kind: 'failed', code: 'provider_unavailable', message: 'm' } as const;
    expect(await run([unavailable], request, [testOf('Pass')]).result).toMatchObject({ kind: 'passed' });
    expect(await run([unavailable], request, [testOf('Pass')], 'Reject').result).toMatchObject({ kind: 'failed' });
  });

  test('local rules are not run separately where no enforced rule calls a provider', async () => {
    const { judge, result } = run(
      [outcomes.Pass],
      { ...sectionOf('x'), additional: [{ ...remote, mode: 'observe' }] },
      [testOf('Pass')],
    );
    await result;
    expect(judge.asked).toEqual([]);
  });
});

describe('calls to providers before an application', () => {
  /** The messages about providers that do not answer. */
  async function ask(judge: Parameters<typeof askProviders>[0], bundle: Bundle): Promise<readonly string[]> {
    const silences = await askProviders(judge, bundle, providerQuestions(bundle), signal);
    return silences.flatMap((silence) => silence?.message ?? []);
  }

  test('each enforced rule calls its provider separately, with its own timeout, and no other rule does', async () => {
    const silent = judgeThatSays((names) =>
      names.map((name) => ({ name, decision: 'Pass', code: undefined, rules: [] })),
    );
    expect(await ask(silent, bundleOf(sectionOf('x')))).toEqual([]);
    expect(silent.asked).toEqual([]);
    const request: Section = {
      ...sectionOf('x'),
      additional: [
        { ...remote, mode: 'enforce' },
        { ...remote, id: 'watches', mode: 'observe' },
      ],
    };
    expect(await ask(silent, bundleOf(request))).toEqual([]);
    expect(silent.asked).toMatchObject([{ providers: 'called' }]);
    const [{ bundle } = { bundle: undefined }] = silent.asked;
    expect(bundle?.policies).toMatchObject([{ request: { baseline: [remote], additional: [], deadlineMs: 80 } }]);
  });

  test('every provider that does not respond is reported before an application, whatever the other providers answer', async () => {
    const request: Section = { ...sectionOf('x'), baseline: [remote, { ...remote, id: 'asks-too' }] };
    const judge = judgeThatSays((names) => [
      { name: names[0] ?? '', decision: 'Reject', code: undefined, rules: [] },
      { name: names[1] ?? '', decision: 'Failed', code: 'provider_unavailable', cause: 'name_not_found', rules: [] },
    ]);
    expect(await ask(judge, bundleOf(request))).toEqual([
      'the provider spam of the rule asks-too does not answer: the name of its host cannot be resolved (provider_unavailable); to correct it, correct the endpoint in providers.yaml, or the DNS',
    ]);
  });
});
