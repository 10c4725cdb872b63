import { describe, expect, test } from 'vitest';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { createRoutePins } from './pin-routes.ts';
import { type Lookup, RouteTable, type SeenRoute } from './route-table.ts';

const pin = { policyId: 'p', policyRevision: '1', digest: 'a'.repeat(64), addresses: ['http://127.0.0.1:1'] };
const upstream = 'http://127.0.0.1:2/v1';
const guarded = (alias: string, rest: Partial<GatewayRouteSpec> = {}) =>
  routeSpec(alias, upstream, routeGuard(pin), rest);
const unguarded = (alias: string, rest: Partial<GatewayRouteSpec> = {}) =>
  routeSpec(alias, upstream, { mode: 'None' }, rest);

function seen(name: string, spec: unknown, uid?: string): SeenRoute {
  const { metadata } = storedRoute(name, spec, uid);
  return { name, uid: metadata.uid, version: metadata.resourceVersion, created: 0, spec };
}

function tableOf(...routes: readonly SeenRoute[]): RouteTable {
  const table = new RouteTable('default');
  for (const route of routes) table.observe(route);
  table.complete();
  return table;
}

const kindOf = (lookup: Lookup): string => lookup.kind;
const proved = { kind: 'proved' } as const;

describe('an alias', () => {
  test('an alias without a route is unknown only after the complete list was loaded', () => {
    const table = new RouteTable('default');
    expect(kindOf(table.lookup('m'))).toBe('unavailable');
    table.complete();
    expect(kindOf(table.lookup('m'))).toBe('unknown');
  });

  test('a guarded alias is unavailable, and its route pending, until a probe succeeds', () => {
    const route = seen('r', guarded('m'));
    const table = tableOf(route);
    expect(kindOf(table.lookup('m'))).toBe('unavailable');
    expect(table.state().pending).toEqual([{ route: 'r', uid: 'uid-r', version: route.version }]);
    table.probed('r', route.version, proved);
    expect(kindOf(table.lookup('m'))).toBe('route');
    expect(table.state().pending).toEqual([]);
  });

  test('an unguarded alias needs no probe', () => {
    const table = tableOf();
    expect(table.observe(seen('r', unguarded('m')))).toBeUndefined();
    expect(kindOf(table.lookup('m'))).toBe('route');
  });

  test('an alias keeps its previous version until a probe of the next version succeeds', () => {
    const first = seen('r', unguarded('m'));
    const table = tableOf(first);
    const second = seen('r', guarded('m'));
    expect(table.observe(second)).toBeDefined();
    expect(table.lookup('m')).toMatchObject({ kind: 'route', route: { version: first.version } });
    expect(table.state().pending).toMatchObject([{ version: second.version }]);
    table.probed('r', first.version, proved);
    expect(table.lookup('m')).toMatchObject({ route: { version: first.version } });
    table.probed('r', second.version, proved);
    expect(table.lookup('m')).toMatchObject({ route: { version: second.version } });
  });

  test('an alias that two routes claim is unavailable, and both are rejected, until one releases it', () => {
    const table = tableOf(seen('r', unguarded('m')), seen('s', unguarded('m')));
    expect(kindOf(table.lookup('m'))).toBe('unavailable');
    expect(table.state().rejected.map(({ route, reason }) => `${route} ${reason}`)).toEqual([
      'r alias_conflict',
      's alias_conflict',
    ]);
    table.remove('r');
    expect(table.lookup('m')).toMatchObject({ kind: 'route', route: { name: 's' } });
    expect(table.state().rejected).toEqual([]);
  });

  test('while two bindings exchange their aliases, each alias is served by one probed binding at most', () => {
    const [r, s] = [seen('r', guarded('m')), seen('s', guarded('n'))];
    const table = tableOf(r, s);
    const prove = ({ name, version }: SeenRoute): void => table.probed(name, version, proved);
    const answers = (): readonly string[] =>
      ['m', 'n'].map((alias) => {
        const found = table.lookup(alias);
        return found.kind === 'route' ? found.route.name : found.kind;
      });
    const shown = (route: SeenRoute): void => {
      table.observe(route);
      expect(table.state().rejected).toEqual([]);
    };
    prove(r);
    prove(s);
    expect(answers()).toEqual(['r', 's']);
    const [aside, moved, last] = [seen('r', guarded('~r')), seen('s', guarded('m')), seen('r', guarded('n'))];
    shown(aside);
    expect(answers()).toEqual(['r', 's']);
    shown(moved);
    expect(answers()).toEqual(['unavailable', 's']);
    prove(moved);
    expect(answers()).toEqual(['s', 'unknown']);
    shown(last);
    expect(answers()).toEqual(['s', 'unavailable']);
    prove(last);
    expect(answers()).toEqual(['s', 'r']);
  });

  test('disabling or deleting a route takes effect immediately', () => {
    const table = tableOf(seen('r', unguarded('m')));
    table.observe(seen('r', guarded('m', { state: 'Disabled' })));
    expect(kindOf(table.lookup('m'))).toBe('disabled');
    table.remove('r');
    expect(kindOf(table.lookup('m'))).toBe('unknown');
  });

  test('a renamed alias is served once a probe of the new version succeeded', () => {
    const table = tableOf(seen('r', unguarded('old')));
    const renamed = seen('r', guarded('new'));
    table.observe(renamed);
    expect(kindOf(table.lookup('old'))).toBe('route');
    expect(kindOf(table.lookup('new'))).toBe('unavailable');
    table.probed('r', renamed.version, proved);
    expect(kindOf(table.lookup('old'))).toBe('unknown');
    expect(kindOf(table.lookup('new'))).toBe('route');
  });

  test('a route that was created again takes nothing from the deleted one', () => {
    const table = tableOf(seen('r', unguarded('m'), 'first'));
    table.observe(seen('r', guarded('m'), 'second'));
    expect(kindOf(table.lookup('m'))).toBe('unavailable');
  });
});

describe('a version that is not understood', () => {
  test.each<[string, object, string]>([
    ['an unknown format', { formatVersion: 2 }, 'unknown_format'],
    ['an unknown field', { region: 'eu' }, 'invalid_route: region'],
    [
      'an unknown field inside',
      { upstream: { provider: 'p', endpoint: upstream, model: 'm', zone: 1 } },
      'invalid_route: upstream.zone',
    ],
    ['a missing workload', { workload: undefined }, 'invalid_route: workload'],
    ['an unknown profile', { contentProfile: 'other' }, 'invalid_route: contentProfile'],
    [
      'a credential outside of its folder',
      { upstream: { provider: 'p', endpoint: upstream, model: 'm', credential: '..' } },
      'invalid_route: upstream.credential',
    ],
    [
      'headers of another policy',
      { guardrail: routeGuard({ ...pin, policyId: 'q' }, undefined, { policyId: 'p' }) },
      'invalid_route: guardrail.headers.x-ap-gr-policy-id',
    ],
  ])('a route version with %s is rejected, and the previous version keeps serving', (_, change, reason) => {
    const first = seen('r', unguarded('m'));
    const table = tableOf(first);
    table.observe(seen('r', { ...guarded('m'), ...change }));
    expect(table.state().rejected).toMatchObject([{ route: 'r', reason }]);
    expect(table.lookup('m')).toMatchObject({ kind: 'route', route: { version: first.version } });
  });

  const workload = `g-${'0'.repeat(20)}`;
  const at = (address: string, name = workload) =>
    tableOf(
      seen('r', guarded('m', { workload: name, guardrail: routeGuard({ ...pin, addresses: [address] }) })),
    ).state();

  test.each(['http://127.0.0.1:9001', 'http://[::1]:9001', `http://${workload}.default.svc:8000`])(
    'a route to the address %s is probed',
    (address) => expect(at(address)).toMatchObject({ pending: [{ route: 'r' }], rejected: [] }),
  );

  test.each([
    ['another host', 'http://collector.example:8000'],
    ['another Service of the namespace', 'http://portcullis-echo.default.svc:8000'],
    ['the Service of another workload', `http://g-${'1'.repeat(20)}.default.svc:8000`],
    ['a Service of another namespace', `http://${workload}.other.svc:8000`],
    ['a host below that of the Service', `http://${workload}.default.svc.example:8000`],
    ['an address with a user name', `http://user@${workload}.default.svc:8000`],
    ['another machine of a loopback network', 'http://127.0.0.2:9001'],
    ['another scheme', `ftp://${workload}.default.svc`],
  ])('a route to the address %s is rejected and not probed', (_, address) => {
    expect(at(address)).toMatchObject({ pending: [], rejected: [{ reason: 'invalid_route: guardrail.addresses' }] });
  });

  test('a route whose workload has the name of another Service is rejected', () => {
    const rejected = [{ reason: 'invalid_route: guardrail.addresses' }];
    expect(at('http://portcullis-echo.default.svc:8000', 'portcullis-echo')).toMatchObject({ pending: [], rejected });
  });

  test('an invalid version makes its alias unavailable if no version served before', () => {
    const table = tableOf(seen('r', { ...unguarded('m'), formatVersion: 2 }));
    expect(kindOf(table.lookup('m'))).toBe('unavailable');
  });

  test('a route version is rejected while its runtime contradicts it', () => {
    const route = seen('r', guarded('m'));
    const table = tableOf(route);
    table.probed('r', route.version, { kind: 'contradicted', reason: 'probe_policy_unavailable' });
    expect(table.state().rejected).toMatchObject([{ reason: 'probe_policy_unavailable' }]);
    expect(kindOf(table.lookup('m'))).toBe('unavailable');
    table.probed('r', route.version, proved);
    expect(table.state()).toMatchObject({ rejected: [], pending: [] });
  });
});

describe('a pin', () => {
  const next = '0190a5d4-7f3a-7cc2-9b1e-8d3f5a6b7c02';

  test('a pin keeps the route version at admission and its workload in use until it is released', () => {
    const first = seen('r', guarded('m'));
    const table = tableOf(first);
    table.probed('r', first.version, proved);
    let ends = 0;
    const pins = createRoutePins(table, () => {
      ends += 1;
    });
    const admission = pins.admit('m');
    if (admission.kind !== 'pinned') throw new Error(admission.kind);
    const second = seen('r', guarded('m', { workload: 'g-next', generationId: next }));
    table.observe(second);
    table.probed('r', second.version, proved);
    expect(admission.pin.route.version).toBe(first.version);
    expect(pins.inUse().map(({ workload }) => workload)).toEqual(['g-next', 'g-test']);
    expect(pins.count).toBe(1);
    admission.pin[Symbol.dispose]();
    admission.pin[Symbol.dispose]();
    expect(pins.inUse()).toEqual([{ workload: 'g-next', generationId: next }]);
    expect(pins.count).toBe(0);
    expect(ends).toBe(1);
  });

  test('the workload of several routes is in use once, and the workload of a removed route is in use while requests use it', () => {
    const [first, second] = [seen('one', guarded('m')), seen('two', guarded('n', { generationId: next }))];
    const table = tableOf(first, second);
    for (const { name, version } of [first, second]) table.probed(name, version, proved);
    const pins = createRoutePins(table, () => undefined);
    const atRest = pins.inUse();
    expect(atRest.map(({ workload }) => workload)).toEqual(['g-test']);
    for (const alias of ['m', 'n']) expect(pins.admit(alias).kind).toBe('pinned');
    expect(pins.inUse()).toEqual(atRest);
    table.remove('two');
    expect(pins.inUse().map(({ generationId }) => generationId)).toContain(next);
    table.remove('one');
    expect(pins.inUse()).toHaveLength(2);
  });

  test('a pin of an unguarded route uses no workload', () => {
    const pins = createRoutePins(tableOf(seen('r', unguarded('m'))), () => undefined);
    expect(pins.admit('m').kind).toBe('pinned');
    expect(pins.inUse()).toEqual([]);
    expect(pins.admit('other').kind).toBe('unknown');
  });
});
