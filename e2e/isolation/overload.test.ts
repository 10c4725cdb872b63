import { expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { bundle, detector, policy, providersAt, section, stopList } from '../../runtime/testing/build-bundle.ts';
import { allow } from '../../runtime/testing/provider-answers.ts';
import type { RuntimeResponse } from '../../runtime/testing/start-runtime.ts';
import { verifies } from '../support/verifies.ts';
import { checkMany, type IsolatedRuntime, outcomes, pass, startReady } from './isolated-runtime.ts';

/** A detector that holds each request until the test releases it. */
async function startHolding() {
  const held: (() => void)[] = [];
  const provider = await startScriptedHttp((response, asked) => held.push(() => allow(response, asked)));
  return {
    url: provider.url,
    asked: () => provider.seen.length,
    held: () => held.length,
    release: (count = held.length) => {
      for (const answer of held.splice(0, count)) answer();
    },
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

function startWith(url: string, maxConcurrency: number): Promise<IsolatedRuntime> {
  const patient = { ...detector('patient'), timeoutMs: 5_000 };
  const asking = { ...section([patient]), deadlineMs: 5_000 };
  const policies = [
    policy(asking, undefined, 'asking'),
    policy(section([stopList('words', ['x'])]), undefined, 'local'),
  ];
  const limits = { ...defaultBundleLimits, maxConcurrency };
  return startReady(bundle(policies, { limits, providers: providersAt(url) }));
}

function ask(runtime: IsolatedRuntime, count: number, policyId = 'asking'): Promise<readonly RuntimeResponse[]> {
  const one = () => runtime.check('request', ['hello'], { 'x-ap-gr-policy-id': policyId });
  return Promise.all(Array.from({ length: count }, one));
}

const inFlight = (runtime: IsolatedRuntime): Promise<number> => runtime.metric('portcullis_runtime_checks_in_flight');

verifies(
  ['guardrail:errors:overloaded', 'guardrail:limits:max-concurrency-edge', 'guardrail:limits:queue-size-zero'],
  '256 concurrent checks are all answered; further ones are refused immediately while they run',
  async () => {
    await using provider = await startHolding();
    await using runtime = await startWith(provider.url, 256);
    for (let round = 0; round < 2; round += 1) {
      const before = provider.asked();
      const running = ask(runtime, 255);
      await until('255 are asked', () => provider.held() === 255);
      const last = ask(runtime, 1);
      await until('all 256 are asked', () => provider.held() === 256);
      expect(await inFlight(runtime)).toBe(256);
      for (const policyId of ['asking', 'local']) {
        expect(outcomes(await ask(runtime, 1, policyId))).toEqual({ '503 overloaded': 1 });
        expect(outcomes(await ask(runtime, 100, policyId))).toEqual({ '503 overloaded': 100 });
      }
      // Each check that ends frees exactly one slot of the runtime.
      provider.release(1);
      await until('a slot is free', async () => (await inFlight(runtime)) === 255);
      expect(outcomes(await ask(runtime, 1, 'local'))).toEqual({ [pass]: 1 });
      provider.release();
      expect(outcomes([...(await running), ...(await last)])).toEqual({ [pass]: 256 });
      // The detector was not called for a refused check.
      expect(provider.asked() - before).toBe(256);
      expect(await inFlight(runtime)).toBe(0);
      expect(await checkMany(runtime, 200, { atOnce: 64, policy: 'local' })).toEqual({ [pass]: 200 });
    }
    expect(await runtime.metric('portcullis_runtime_overloads_total', { part: 'checks' })).toBe(2 * 202);
    expect(runtime.process.hasEnded()).toBe(false);
  },
);

test('a runtime with a maxConcurrency of 1 refuses a second concurrent check', async () => {
  await using provider = await startHolding();
  await using runtime = await startWith(provider.url, 1);
  const running = ask(runtime, 1);
  await until('it is asked', () => provider.held() === 1);
  expect(outcomes(await ask(runtime, 3, 'local'))).toEqual({ '503 overloaded': 3 });
  provider.release();
  expect(outcomes(await running)).toEqual({ [pass]: 1 });
  expect(await checkMany(runtime, 50, { atOnce: 1, policy: 'local' })).toEqual({ [pass]: 50 });
});

test('2,000 concurrent checks of local rules are each answered with a decision or with overloaded', async () => {
  await using provider = await startHolding();
  await using runtime = await startWith(provider.url, 4);
  const counts = outcomes(await ask(runtime, 2_000, 'local'));
  const { [pass]: passed = 0, '503 overloaded': overloaded = 0, ...others } = counts;
  expect(others).toEqual({});
  expect(passed + overloaded).toBe(2_000);
  expect(passed).toBeGreaterThan(0);
  expect(await checkMany(runtime, 200, { atOnce: 1, policy: 'local' })).toEqual({ [pass]: 200 });
  expect(runtime.process.log()).not.toMatch(/"level":"error"|request_failed/);
});
