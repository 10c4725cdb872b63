import { expect, test } from 'vitest';
import type { CheckOutcome } from '#checks/check-outcome';
import { checkTargetOf, said } from '#checks/testing/check-fixture';
import { until } from '#kit/testing/until';
import { routeGuard, routeSpec } from '../testing/route-builder.ts';
import { watchCheckProviders } from './watch-check-providers.ts';

const digest = 'a'.repeat(64);
const pin = { policyId: 'p', policyRevision: '1', digest, addresses: ['http://127.0.0.1:1'] };
const served = [
  { spec: routeSpec('model', 'http://127.0.0.1:1/v1', routeGuard(pin)) },
  { spec: routeSpec('same', 'http://127.0.0.1:1/v1', routeGuard(pin)) },
  { spec: routeSpec('open', 'http://127.0.0.1:1/v1', { mode: 'None' }) },
];
const never = 2_147_483_647;
const target = checkTargetOf(pin.addresses, { digest });

const failed = (cause: 'refused' | 'timeout', rule = 'no-spam'): CheckOutcome => ({
  kind: 'failed',
  code: 'provider_unavailable',
  message: '',
  rule,
  provider: { name: 'spam', cause },
});
const entry = (cause: string, rule = 'no-spam') => ({ provider: 'spam', workload: 'g-test', rule, cause });
const pass: CheckOutcome = { kind: 'pass' };

function openWatch(probeMs = never) {
  const asked: string[] = [];
  const logged: unknown[] = [];
  const state = { outcome: pass, routes: served as readonly (typeof served)[number][], changes: 0 };
  const watch = watchCheckProviders({
    checks: {
      check: (_target, _stage, [message]) => {
        asked.push(message?.content ?? '');
        return Promise.resolve(state.outcome);
      },
    },
    routes: () => state.routes,
    onChange: () => {
      state.changes += 1;
    },
    logger: { info: (event) => logged.push([event]), warn: (event, fields) => logged.push([event, fields]) },
    waits: { probe: { firstMs: probeMs, maxMs: probeMs }, shown: { firstMs: 0, maxMs: 0 } },
  });
  const check = (outcome: CheckOutcome, stage: 'request' | 'response' = 'request', of = target) => {
    state.outcome = outcome;
    return watch.checks.check(of, stage, [said('the text of a user')]);
  };
  return { watch, check, state, asked, logged };
}

test('the state has a detector that fails a check, with its workload, rule and cause, until a text passes', async () => {
  const { watch, check, state, logged } = openWatch();
  using _watch = watch;
  expect(await check(failed('refused'))).toEqual(failed('refused'));
  expect(watch.state()).toEqual([entry('refused')]);
  await check(failed('refused'));
  expect(state.changes).toBe(1);
  await check({ kind: 'failed', code: 'network', message: '' });
  await check({ kind: 'deny', rule: 'words' });
  await check(pass, 'response');
  expect(watch.state()).toEqual([entry('refused')]);
  await check(pass);
  await until('the recovery is shown', () => watch.state().length === 0);
  expect(logged).toEqual([
    ['check_provider_failing', { digest, rule: 'no-spam', provider: 'spam', cause: 'refused' }],
    ['check_provider_recovered'],
  ]);
});

test('a detector that denies a text has recovered, and the newest failed rule of a stage is the one in the state', async () => {
  const { watch, check } = openWatch();
  using _watch = watch;
  await check(failed('refused'));
  await check(failed('timeout', 'second'));
  await until('the newest rule is shown', () => watch.state()[0]?.rule === 'second');
  expect(watch.state()).toEqual([entry('timeout', 'second')]);
  await check({ kind: 'deny', rule: 'second' });
  await until('the recovery is shown', () => watch.state().length === 0);
});

test('a failed detector is shown as recovered without a request of a user: the gateway probes it with a built-in text', async () => {
  const { watch, check, state, asked } = openWatch(1);
  using _watch = watch;
  await check(failed('refused'));
  asked.length = 0;
  await until('the gateway has asked', () => asked.length > 1);
  expect(watch.state()).toEqual([entry('refused')]);
  state.outcome = pass;
  await until('the recovery is shown', () => watch.state().length === 0);
  expect(asked.join()).not.toContain('the text of a user');
});

test('a detector of a workload that no route names is neither in the state nor probed', async () => {
  const { watch, check, state, asked } = openWatch(1);
  using _watch = watch;
  await check(failed('refused'), 'request', checkTargetOf(pin.addresses, { digest: 'b'.repeat(64) }));
  expect(watch.state()).toEqual([]);
  await check(failed('refused'));
  state.routes = [];
  watch.look();
  const before = asked.length;
  expect(watch.state()).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(asked.length - before).toBeLessThan(2);
});
