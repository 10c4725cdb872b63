import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { OpeningState } from '#sql/open-repeatedly';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { RouteTable, type SeenRoute } from './route-table.ts';
import { loadedFirst, watchReadiness } from './watch-readiness.ts';

const pin = { policyId: 'p', policyRevision: '1', digest: 'a'.repeat(64), addresses: ['http://127.0.0.1:1'] };

function guarded(name: string): SeenRoute {
  const spec = routeSpec(name, 'http://127.0.0.1:2/v1', routeGuard(pin));
  const { metadata } = storedRoute(name, spec);
  return { name, uid: metadata.uid, version: metadata.resourceVersion, created: 0, spec };
}

test('a replica is ready once every route was loaded and then probed or rejected', () => {
  const table = new RouteTable('default');
  const moves: boolean[] = [];
  using readiness = watchReadiness(loadedFirst(table, undefined), () => moves.push(readiness.mayServe()));
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
  using readiness = watchReadiness(loadedFirst(table, undefined), () => undefined, 50);
  readiness.look();
  expect(readiness.mayServe()).toBe(false);
  await until('the while is over', () => readiness.mayServe());
  expect(table.state().pending).toHaveLength(1);
});

test('a new replica with refused tables is not ready after the wait, and is ready once they fit', async () => {
  let [state, asked]: [OpeningState, number] = ['unknown', 0];
  const moves: boolean[] = [];
  const models = new RouteTable('default');
  models.complete();
  const stores = (): readonly OpeningState[] => {
    asked += 1;
    return ['open', state];
  };
  const loaded = loadedFirst(models, { table: models, stores });
  using readiness = watchReadiness(loaded, () => moves.push(readiness.mayServe()), 1);
  readiness.look();
  state = 'refused';
  const before = asked;
  await until('the wait has ended', () => asked > before);
  expect(readiness.mayServe()).toBe(false);
  state = 'open';
  readiness.look();
  expect(readiness.mayServe()).toBe(true);
  state = 'refused';
  readiness.look();
  expect(readiness.mayServe()).toBe(true);
  expect(moves).toEqual([true]);
});

test.each([
  ['open', true],
  ['away', true],
  ['unknown', false],
  ['refused', false],
] as const)('a replica with a store that is %s is ready at once: %s', (state, isReady) => {
  const models = new RouteTable('default');
  models.complete();
  using readiness = watchReadiness(loadedFirst(models, { table: models, stores: () => [state] }), () => undefined);
  readiness.look();
  expect(readiness.mayServe()).toBe(isReady);
});
