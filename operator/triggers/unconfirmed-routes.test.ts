import { expect, test } from 'vitest';
import { sampleReport } from '#kube/testing/sample-resources';
import { createObjectStore } from '#kube/watch/object-store';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import { createUnconfirmedRoutes } from './unconfirmed-routes.ts';

type Report = Stored<GatewayReport>;
const facts = { creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, namespace: 'default' };

function report(appliedThrough: string, change: Partial<GatewayReport['spec']> = {}, name = 'gateway-1'): Report {
  const { spec, metadata, ...rest } = sampleReport(name);
  const stored = { ...metadata, ...facts, uid: `uid-${name}`, resourceVersion: '1' };
  return { ...rest, metadata: stored, spec: { ...spec, appliedThrough, ...change } } as Report;
}

function route(version: string, gateway = 'default', name = `route-${version}`): Stored<GatewayRoute> {
  const metadata = { ...facts, name, resourceVersion: version };
  return { metadata, spec: { gateway } } as unknown as Stored<GatewayRoute>;
}

function open() {
  const reports = createObjectStore<GatewayReport>({ gateway: ({ spec }) => [spec.gateway] });
  const stored = createObjectStore<GatewayRoute>({});
  const routes = createUnconfirmedRoutes({ reports, routes: stored });
  /** Routes that a changed report affects, once the store contains the report. */
  function concernedBy(current: Report, previous: Report): readonly string[] | 'all' {
    reports.set(current);
    const found = routes.concernedBy(current, previous);
    return found === 'all' ? found : [...found].toSorted();
  }
  return { reports, stored, routes, concernedBy };
}

test('a report affects the routes of its gateway that it has newly reached', () => {
  const { routes, concernedBy } = open();
  for (const version of ['5', '9', '10', '11']) routes.changed(`route-${version}`, route(version));
  routes.changed('elsewhere', route('10', 'other'));
  expect(concernedBy(report('10'), report('5'))).toEqual(['route-10', 'route-9']);
});

test('a route that one replica has reached is affected by the later report of the other replica', () => {
  const { reports, routes, concernedBy } = open();
  reports.set(report('0', {}, 'gateway-2'));
  routes.changed('route', route('7'));
  expect(concernedBy(report('7'), report('1'))).toEqual(['route']);
  expect(concernedBy(report('7', {}, 'gateway-2'), report('0', {}, 'gateway-2'))).toEqual(['route']);
  expect(concernedBy(report('8'), report('7'))).toEqual([]);
});

test.each([
  ['starts later', undefined],
  ['restarts', report('9', { bootId: '01900000-0000-7000-8000-000000000001' }, 'gateway-2')],
])('a route that every replica has confirmed is affected by a replica that %s and lags behind', (_what, before) => {
  const { reports, stored, routes, concernedBy } = open();
  const [one, elsewhere] = [route('7'), route('7', 'other', 'elsewhere')];
  reports.set(report('6'));
  if (before !== undefined) reports.set(before);
  for (const each of [one, elsewhere]) {
    stored.set(each);
    routes.changed(each.metadata.name, each);
  }
  expect(concernedBy(report('7'), report('6'))).toEqual(['route-7']);
  const behind = report('5', {}, 'gateway-2');
  reports.set(behind);
  expect(routes.concernedBy(behind, before)).toBe('all');
  expect(concernedBy(report('8', {}, 'gateway-2'), behind)).toEqual(['route-7']);
  expect(concernedBy(report('9', {}, 'gateway-2'), report('8', {}, 'gateway-2'))).toEqual([]);
});

test('a report affects a route that it lists, no longer lists or lists with another reason', () => {
  const { concernedBy } = open();
  const entry = (name: string) => ({ route: name, uid: 'u', version: '3' });
  const pending = [entry('a'), entry('b')];
  expect(concernedBy(report('3', { pending }), report('3', { pending: [entry('b'), entry('c')] }))).toEqual(['a', 'c']);
  const rejected = (reason: string) => ({ rejected: [{ ...entry('a'), reason }] });
  expect(concernedBy(report('3', rejected('one')), report('3', rejected('other')))).toEqual(['a']);
  expect(concernedBy(report('3', rejected('one')), report('3', rejected('one')))).toEqual([]);
});

test.each([
  ['that is new', undefined],
  ['of another process', report('3', { bootId: '01900000-0000-7000-8000-000000000001' })],
  ['of a replica that was not ready before', report('3', { ready: false })],
  ['of a replica that belonged to another gateway before', report('3', { gateway: 'other' })],
  ['of a replica that supports other formats now', report('3', { formats: [1, 2] })],
  ['of a replica that was at a later version before', report('4')],
])('a report %s may affect every route', (_what, previous) => {
  expect(open().routes.concernedBy(report('3'), previous)).toBe('all');
});

test('a deleted report may affect every route', () => {
  expect(open().routes.concernedBy(undefined, report('3'))).toBe('all');
});
