import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { until } from '#kit/testing/until';
import {
  bundle,
  detector,
  observed,
  policy,
  providersAt,
  section,
  stopList,
} from '../../runtime/testing/build-bundle.ts';
import type { RuntimeResponse } from '../../runtime/testing/start-runtime.ts';
import { verifies } from '../support/verifies.ts';
import { checkMany, type IsolatedRuntime, outcomes, pass, startReady } from './isolated-runtime.ts';
import { type MisbehavingDetector, type Misbehaviour, startMisbehavingDetector } from './misbehaving-detector.ts';

const maxConcurrency = 8;
const words = stopList('words', ['forbidden']);
/** Timeout that is longer than any answer takes, and short enough to wait for. */
const patient = { ...detector('patient'), timeoutMs: 3_000 };
const impatient = { ...detector('impatient'), timeoutMs: 300 };
/** The rule's timeout equals the stage deadline, so that the stage ends it. */
const hurried = { ...section([{ ...detector('hurried'), timeoutMs: 300 }]), deadlineMs: 300 };

let provider: MisbehavingDetector;
let runtime: IsolatedRuntime;
beforeAll(async () => {
  provider = await startMisbehavingDetector();
  const policies = [
    policy(section([words, patient]), undefined, 'asking'),
    policy(section([words, impatient]), undefined, 'impatient'),
    policy(hurried, undefined, 'hurried'),
    policy(section([words]), undefined, 'local'),
    policy(section([words], [observed(detector('observer'))]), undefined, 'observing'),
  ];
  const limits = { ...defaultBundleLimits, maxConcurrency };
  runtime = await startReady(bundle(policies, { limits, providers: providersAt(provider.url) }));
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function ask(count: number, policyId = 'asking'): Promise<readonly RuntimeResponse[]> {
  const one = () => runtime.check('request', ['hello'], { 'x-ap-gr-policy-id': policyId });
  return Promise.all(Array.from({ length: count }, one));
}

const inFlight = (): Promise<number> => runtime.metric('portcullis_runtime_checks_in_flight');

/** The process still runs, no slot is taken, and 200 checks pass, eight of them at a time. */
async function expectHealthy(): Promise<void> {
  provider.behave('allow');
  await until('no check slot is taken', async () => (await inFlight()) === 0);
  for (const id of ['asking', 'local'])
    expect(await checkMany(runtime, 200, { atOnce: maxConcurrency, policy: id })).toEqual({ [pass]: 200 });
  expect(runtime.process.hasEnded()).toBe(false);
  expect(runtime.process.log()).not.toMatch(/"level":"error"|request_failed/);
}

const misbehaviours: readonly (readonly [Misbehaviour, string])[] = [
  ['silence', 'rule_timeout'],
  ['dribble', 'rule_timeout'],
  ['half an answer', 'rule_timeout'],
  ['reset', 'provider_unavailable'],
  ['reset at once', 'provider_unavailable'],
  ['close', 'provider_unavailable'],
  ['no http', 'provider_unavailable'],
  ['endless headers', 'provider_unavailable'],
  ['endless body', 'provider_invalid_answer'],
  ['endless chunks', 'provider_invalid_answer'],
];

describe('a detector that answers with', () => {
  test.each(misbehaviours)('an external rule fails on %s with %s and releases its slot', async (misbehaviour, code) => {
    await expectHealthy();
    provider.behave(misbehaviour);
    for (let wave = 0; wave < 2; wave += 1) {
      const policyId = code === 'rule_timeout' ? 'impatient' : 'asking';
      expect(outcomes(await ask(maxConcurrency, policyId))).toEqual({ [`503 ${code}`]: maxConcurrency });
    }
    expect(await inFlight()).toBe(0);
    await expectHealthy();
  });
});

verifies(
  ['guardrail:fail-closed:timeout', 'guardrail:errors:stage-timeout'],
  "a detector that never answers is aborted at the stage deadline when that passes before the rule's timeout",
  async () => {
    provider.behave('silence');
    expect(outcomes(await ask(maxConcurrency, 'hurried'))).toEqual({ '503 stage_timeout': maxConcurrency });
    await expectHealthy();
  },
);

test('checks without a detector are answered while a detector hangs, as long as a slot is free', async () => {
  provider.behave('silence');
  const hanging = ask(maxConcurrency - 1);
  await until('all but one check slot are taken', async () => (await inFlight()) === maxConcurrency - 1);
  expect(outcomes(await ask(1, 'local'))).toEqual({ [pass]: 1 });
  expect(outcomes(await hanging)).toEqual({ '503 rule_timeout': maxConcurrency - 1 });
  await expectHealthy();
});

test('clients that disconnect while a detector hangs free their slots', async () => {
  provider.behave('silence');
  for (let round = 0; round < 3; round += 1) {
    const gone = new AbortController();
    const calls = Array.from({ length: maxConcurrency }, () =>
      fetch(`${runtime.url}/request`, {
        method: 'POST',
        headers: pairs(runtime.headers({ 'x-ap-gr-policy-id': 'asking' })),
        body: '{"body":{"messages":[{"role":"user","content":"hello"}]}}',
        signal: gone.signal,
      }).then(
        ({ status }) => status,
        () => 'gone',
      ),
    );
    await until('the check slots are taken', async () => (await inFlight()) === maxConcurrency);
    gone.abort();
    expect(await Promise.all(calls)).toEqual(calls.map(() => 'gone'));
    await until('the check slots are free', async () => (await inFlight()) === 0);
  }
  await expectHealthy();
});

test('a detector in observe mode that never answers delays no check', async () => {
  provider.behave('silence');
  const overloads = () => runtime.metric('portcullis_runtime_overloads_total', { part: 'observers' });
  const before = await overloads();
  expect(await checkMany(runtime, 200, { atOnce: maxConcurrency, policy: 'observing' })).toEqual({ [pass]: 200 });
  expect(await inFlight()).toBe(0);
  expect(await overloads()).toBeGreaterThan(before);
  await until('the pending calls of the detector are aborted', () => provider.connections() < 20);
  await expectHealthy();
});

function pairs(list: readonly string[]): [string, string][] {
  return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at] ?? '', list[2 * at + 1] ?? '']);
}
