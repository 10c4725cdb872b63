import { describe, expect, test } from 'vitest';
import type { CheckTarget } from '#checks/check-target';
import type { ProbeOutcome } from '#checks/client';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import { type HandSource, handSource, routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { followRoutes } from './follow-routes.ts';
import { RouteTable } from './route-table.ts';

const silent = { info: () => undefined, warn: () => undefined };
const upstream = 'http://127.0.0.1:2/v1';
const digest = 'a'.repeat(64);
const pin = (revision: string) => ({
  policyId: 'p',
  policyRevision: revision,
  digest,
  addresses: ['http://127.0.0.1:1'],
});

type Followed = AsyncDisposable & {
  readonly table: RouteTable;
  readonly source: HandSource;
  readonly probed: CheckTarget[];
  changes: number;
  complete: Promise<void>;
};

/** Follows routes, with a fake runtime whose answers the test sets. */
function follow(answer: (target: CheckTarget) => ProbeOutcome): Followed {
  const source = handSource();
  const table = new RouteTable('default');
  const probed: CheckTarget[] = [];
  const followed = followRoutes({
    gateway: 'default',
    table,
    openSource: source.open,
    checks: {
      probe: async (target) => {
        probed.push(target);
        return answer(target);
      },
    },
    onChange: (seen) => {
      state.changes += seen ? 1 : 0;
    },
    logger: silent,
    clock: createFakeClock(),
    waits: { firstMs: 2, maxMs: 10 },
  });
  const { complete } = followed;
  const state: Followed = {
    table,
    source,
    probed,
    complete,
    changes: 0,
    [Symbol.asyncDispose]: () => followed[Symbol.asyncDispose](),
  };
  return state;
}

const failing = (code: 'network' | 'policy_unavailable'): ProbeOutcome => ({ ok: false, code, message: 'm' });

describe('following routes', () => {
  test('a probe uses the pinned policy, and only routes of this gateway are probed', async () => {
    await using followed = follow(() => ({ ok: true }));
    followed.source.put(storedRoute('r', routeSpec('m', upstream, routeGuard(pin('7')))));
    followed.source.put(storedRoute('other', routeSpec('m', upstream, routeGuard(pin('8')), { gateway: 'another' })));
    followed.source.complete();
    await followed.complete;
    await until('the route is taken', () => followed.table.lookup('m').kind === 'route');
    expect(followed.probed).toMatchObject([{ policyId: 'p', policyRevision: '7', digest, maxMessages: 32 }]);
    expect(followed.table.isComplete).toBe(true);
  });

  test('an unreached runtime is probed again, and a route whose runtime keeps contradicting it is rejected', async () => {
    let outcome = failing('network');
    await using followed = follow(() => outcome);
    followed.source.put(storedRoute('r', routeSpec('m', upstream, routeGuard(pin('1')))));
    await until('three probes', () => followed.probed.length >= 3);
    expect(followed.table.state()).toMatchObject({ pending: [{ route: 'r' }], rejected: [] });
    outcome = failing('policy_unavailable');
    await until('the rejection', () => followed.table.state().rejected.length === 1);
    expect(followed.table.state().rejected[0]?.reason).toBe('probe_policy_unavailable');
    outcome = { ok: true };
    await until('the route is taken', () => followed.table.lookup('m').kind === 'route');
  });

  test('a gateway unloads a route whose `gateway` now names another gateway, and rejects a route version that names no gateway', async () => {
    await using followed = follow(() => ({ ok: true }));
    const open = routeSpec('m', upstream, { mode: 'None' });
    followed.source.put(storedRoute('r', open));
    const { gateway: _, ...nameless } = open;
    followed.source.put(storedRoute('r', nameless));
    followed.source.put(storedRoute('unknown', nameless));
    expect(followed.table.state().rejected.map(({ route }) => route)).toEqual(['r']);
    expect(followed.table.lookup('m').kind).toBe('route');
    followed.source.put(storedRoute('r', { ...open, gateway: 'another' }));
    followed.source.complete();
    await followed.complete;
    expect(followed.table.lookup('m').kind).toBe('unknown');
    expect(followed.changes).toBe(4);
  });
});
