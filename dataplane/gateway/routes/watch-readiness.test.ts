import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { RouteTable, type SeenRoute } from './route-table.ts';
import { watchReadiness } from './watch-readiness.ts';

const pin = { policyId: 'p', policyRevision: '1', digest: 'a'.repeat(64), addresses: ['http://127.0.0.1:1'] };

function guarded(name: string): SeenRoute {
  const spec = routeSpec(name, 'http://127.0.0.1:2/v1', routeGuard(pin));
  const { metadata } = storedRoute(name, spec);
  return { name, uid: metadata.uid, version: metadata.resourceVersion, created: 0, spec };
}

test('a replica is ready once every route was loaded and then probed or rejected', () => {
  const table = new RouteTable('default');
  const moves: boolean[] = [];
  using readiness = watchReadiness(table, () => moves.push(readiness.mayServe()));
  const [one, other] = [guarded('one'), guarded('other')];
  table.observe(one);
  table.observe(other);
  readiness.look();
  table.complete();
  readiness.look();
  table.probed('one', one.version, { kind: 'proved' });
  readiness.look();
  expect(readiness.mayServe()).toBe(false);
  table.probed('other', other.version, { kind: 'contradicted', reason: 'probe_policy_unavailable' });
  readiness.look();
  expect(readiness.mayServe()).toBe(true);
  table.observe(guarded('third'));
  readiness.look();
  expect(readiness.mayServe()).toBe(true);
  readiness.withdraw();
  readiness.look();
  expect(readiness.mayServe()).toBe(false);
  expect(moves).toEqual([true, false]);
});

test('a route without a successful probe delays readiness for 30 s at most', async () => {
  const table = new RouteTable('default');
  table.observe(guarded('one'));
  table.complete();
  using readiness = watchReadiness(table, () => undefined, 50);
  readiness.look();
  expect(readiness.mayServe()).toBe(false);
  await until('the while is over', () => readiness.mayServe());
  expect(table.state().pending).toHaveLength(1);
});
