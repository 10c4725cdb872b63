import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { Priority } from '#kube/queue/work-queue';
import { sampleBinding, samplePolicy, sampleReport } from '#kube/testing/sample-resources';
import { createObjectStore } from '#kube/watch/object-store';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { CachedPolicy } from '../caches/cached-policy.ts';
import { aliasKey, type Stores } from '../caches/caches.ts';
import { resyncMs, startResync } from '../composition/start-controllers.ts';
import { createTriggers, type Queues } from './triggers.ts';

afterEach(() => void vi.useRealTimers());

/** This number of objects needs more than one turn of the event loop. */
const many = 20_000;

function stored<R extends Resource>(object: R, version: string): Stored<R> {
  const facts = { creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, namespace: 'default' };
  const { name } = object.metadata;
  const metadata = { ...object.metadata, ...facts, uid: `uid-${name}`, resourceVersion: version };
  return { ...object, metadata } as Stored<R>;
}

function route(name: string, version: string): Stored<GatewayRoute> {
  const spec = { gateway: 'default', alias: name, guardrail: { mode: 'None' }, binding: { name } };
  return stored({ metadata: { name }, spec } as unknown as GatewayRoute, version);
}

function report(appliedThrough: string): Stored<GatewayReport> {
  const { spec, ...rest } = sampleReport('gateway-1');
  return stored({ ...rest, spec: { ...spec, appliedThrough } }, appliedThrough);
}

/** Opens triggers with stores that the test fills, and records the passes that they queue. */
function open({ onAdd = () => {} }: { readonly onAdd?: () => void } = {}) {
  const stores = {
    policies: createObjectStore<CachedPolicy>({ id: () => [] }),
    bindings: createObjectStore<ModelBinding>({
      id: () => [],
      alias: ({ spec }) => [aliasKey(spec.gateway, spec.model.alias)],
      policy: () => [],
      workload: () => [],
      leaving: () => [],
    }),
    workloads: createObjectStore<never>({}),
    routes: createObjectStore<GatewayRoute>({
      alias: ({ spec }) => [aliasKey(spec.gateway, spec.alias)],
      workload: () => [],
    }),
    reports: createObjectStore<GatewayReport>({ gateway: ({ spec }) => [spec.gateway] }),
    collections: createObjectStore<never>({}),
    agentVersions: createObjectStore<never>({}),
    agents: createObjectStore<never>({}),
    agentRoutes: createObjectStore<never>({}),
  };
  const asked: { queue: keyof Queues; key: string; priority: Priority }[] = [];
  const queueOf = (queue: keyof Queues) => ({
    add(key: string, { priority = 'normal' }: { readonly priority?: Priority } = {}): void {
      onAdd();
      asked.push({ queue, key, priority });
    },
    addAfter(): void {},
  });
  const triggers = createTriggers({
    queues: {
      policies: queueOf('policies'),
      bindings: queueOf('bindings'),
      workloads: queueOf('workloads'),
      reports: queueOf('reports'),
      served: queueOf('served'),
      bundles: queueOf('bundles'),
      collections: queueOf('collections'),
      agentVersions: queueOf('agentVersions'),
      agents: queueOf('agents'),
    },
    stores: stores as unknown as Stores,
    lookAtWorkloads: () => {},
    waitingFor: () => [],
    served: { entries: [], pins: () => new Map(), waitingFor: () => [] },
  });
  /** The keys that were queued meanwhile. */
  function askedBy(queue: keyof Queues, act: () => void): readonly (readonly [string, Priority])[] {
    asked.length = 0;
    act();
    return asked.flatMap((one) => (one.queue === queue ? [[one.key, one.priority] as const] : []));
  }
  return { stores, triggers, asked, askedBy };
}

test('a route that is written during a resync is queued by the report that confirms it', async () => {
  const { stores, triggers, askedBy } = open();
  stores.reports.set(report('5'));
  for (let at = 0; at < many; at += 1) stores.routes.set(route(`route-${at}`, '5'));
  const last = `route-${many - 1}`;
  stores.bindings.set(stored(sampleBinding(last), '4'));
  const looking = triggers.everything();
  stores.routes.set(route(last, '9'));
  triggers.routes(last, route(last, '9'), route(last, '5'));
  await looking;
  stores.reports.set(report('9'));
  expect(askedBy('bindings', () => triggers.reports('gateway-1', report('9'), report('5')))).toEqual([[last, 'high']]);
});

test('no report queues a route that is deleted during a resync', async () => {
  const { stores, triggers, askedBy } = open();
  stores.reports.set(report('4'));
  for (let at = 0; at < many; at += 1) stores.routes.set(route(`route-${at}`, '4'));
  const last = `route-${many - 1}`;
  stores.routes.set(route(last, '5'));
  const looking = triggers.everything();
  stores.routes.remove(last);
  triggers.routes(last, undefined, route(last, '5'));
  await looking;
  stores.reports.set(report('9'));
  expect(askedBy('bindings', () => triggers.reports('gateway-1', report('9'), report('4')))).toEqual([]);
});

test('a resync yields to the event loop and queues each object', async () => {
  const { stores, triggers, asked } = open({
    onAdd() {
      const since = performance.now();
      while (performance.now() - since < 1);
    },
  });
  for (let at = 0; at < 40; at += 1) stores.bindings.set(stored(sampleBinding(`binding-${at}`), '4'));
  let isOver = false;
  const looking = triggers.everything().then(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await turn();
  await looking;
  expect(turns).toBeGreaterThan(5);
  expect(asked.filter(({ queue }) => queue === 'bindings')).toHaveLength(40);
});

test('a policy created by a user is queued before objects of a resync', () => {
  const { stores, triggers, askedBy } = open();
  const made = stored(samplePolicy('made'), '7') as unknown as Stored<CachedPolicy>;
  stores.policies.set(made);
  expect(askedBy('policies', () => triggers.policies('made', made, undefined))).toEqual([['made', 'normal']]);
  const noted = { ...made, metadata: { ...made.metadata, resourceVersion: '8' } };
  expect(askedBy('policies', () => triggers.policies('made', noted, made))).toEqual([['made', 'low']]);
  const edited = { ...made, metadata: { ...made.metadata, generation: 2, resourceVersion: '9' } };
  expect(askedBy('policies', () => triggers.policies('made', edited, noted))).toEqual([['made', 'high']]);
});

test('a resync queues all policies and bindings at low priority, at the start and every ten minutes until disposal', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { stores, triggers, asked } = open();
  const policies = ['guard-1', 'guard-2'];
  const bindings = ['chat-1', 'chat-2', 'chat-3'];
  for (const name of policies) stores.policies.set(stored(samplePolicy(name), '1'));
  for (const name of bindings) stores.bindings.set(stored(sampleBinding(name), '2'));
  let looking = Promise.resolve();
  const everything = () => {
    looking = triggers.everything();
    return looking;
  };
  const all = [
    ...policies.map((key) => ({ queue: 'policies', key, priority: 'low' })),
    ...bindings.map((key) => ({ queue: 'bindings', key, priority: 'low' })),
    { queue: 'bundles', key: 'all', priority: 'low' },
  ];
  const queued = async () => {
    await looking;
    return asked.splice(0).map((one) => (one.queue === 'bundles' ? { ...one, key: 'all' } : one));
  };
  expect(resyncMs).toBe(600_000);
  {
    using _resync = startResync(everything);
    expect(await queued()).toEqual(all);
    for (let round = 0; round < 3; round += 1) {
      vi.advanceTimersByTime(resyncMs - 1);
      expect(await queued()).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(await queued()).toEqual(all);
    }
  }
  vi.advanceTimersByTime(10 * resyncMs);
  expect(await queued()).toEqual([]);
});
