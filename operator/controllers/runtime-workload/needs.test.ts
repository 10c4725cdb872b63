import { expect, test } from 'vitest';
import { createObjectStore } from '#kube/watch/object-store';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { namedWorkloads, workloadsOf } from '../../applications/named-workloads.ts';
import type { ServedPin } from '../../served/ports.ts';
import { bindingObject } from '../../testing/objects.ts';
import { createNeeds } from './needs.ts';

function open() {
  const bindings = createObjectStore<ModelBinding>({ workload: namedWorkloads });
  const routes = createObjectStore<GatewayRoute>({ workload: workloadsOf });
  const pins = new Map<string, ServedPin>();
  const passes = { bindings: [] as string[], served: [] as string[] };
  const needs = createNeeds({
    stores: { bindings, routes },
    entries: [{ name: 'direct', replicas: 4 }],
    pins: () => pins,
    starting: (workload) => (workload === 'g-pass' ? passes : { bindings: [], served: [] }),
  });
  function bind(name: string, status: ModelBinding['status'], replicas = 1, deleted = false): void {
    const { metadata, ...rest } = bindingObject(name, { replicas });
    const deletion = deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
    bindings.set({ ...rest, metadata: { ...metadata, ...deletion }, status } as Stored<ModelBinding>);
  }
  function route(name: string, workload: string, generationId: string, previous?: string): void {
    const application = { mode: 'Policy', token: '', contentProfile: 'p', workload: previous, guardrail: guard };
    const annotations = { 'portcullis.dev/previous-application': JSON.stringify(application) };
    const metadata = previous === undefined ? { name } : { name, annotations };
    routes.set({ metadata, spec: { workload, generationId } } as unknown as Stored<GatewayRoute>);
  }
  return { needs, bind, route, pins, passes };
}

const guard = {
  mode: 'Policy',
  policyId: 'p',
  policyRevision: '1',
  digest: 'a'.repeat(64),
  addresses: ['http://127.0.0.1:1'],
  headers: {
    'x-ap-gr-policy-id': 'p',
    'x-ap-gr-policy-revision': '1',
    'x-ap-gr-bundle-digest': 'a',
    'x-ap-gr-content-profile': 'p',
  },
  maxBodyBytes: 1,
  maxMessages: 1,
  deadlineMs: { request: 1, response: 1 },
  streaming: { allowed: true },
};

test('a workload is needed by its routes and by bindings whose status names it, with the highest replica count among them', () => {
  const { needs, bind, route } = open();
  expect(needs.isNeeded('g-1')).toBe(false);
  bind('one', { pinned: { generationId: 'x', workload: 'g-1' } }, 2);
  bind('two', { workload: { name: 'g-1', phase: 'Starting' } }, 3);
  bind('three', undefined, 5);
  route('three', 'g-1', 'y');
  expect(needs.of('g-1')).toEqual({ askers: ['three', 'one', 'two'], replicas: 5 });
});

test('a binding that is being deleted needs only the workloads that its route names', () => {
  const { needs, bind, route } = open();
  bind('one', { pinned: { generationId: 'x', workload: 'g-1' } }, 1, true);
  expect(needs.isNeeded('g-1')).toBe(false);
  route('one', 'g-1', 'x');
  expect(needs.of('g-1').askers).toEqual(['one']);
});

test('a previous workload is needed until the application of the route is applied', () => {
  const { needs, bind, route } = open();
  bind('one', undefined);
  route('one', 'g-2', 'x', 'g-1');
  expect(needs.isNeeded('g-1')).toBe(true);
  const record = { operationId: '', contentProfile: 'p', generationId: 'x', outcome: 'Applied', time: '' } as const;
  bind('one', { applications: [record] });
  expect(needs.isNeeded('g-1')).toBe(false);
  expect(needs.isNeeded('g-2')).toBe(true);
});

test('a workload is needed by passes that have requested it and by served policies', () => {
  const { needs, bind, pins, passes } = open();
  bind('one', undefined, 2);
  passes.bindings.push('one', 'gone');
  expect(needs.of('g-pass')).toEqual({ askers: ['one'], replicas: 2 });
  passes.served.push('direct');
  expect(needs.of('g-pass').replicas).toBe(4);
  pins.set('direct', { workload: 'g-3', previous: ['g-2'] } as unknown as ServedPin);
  for (const workload of ['g-3', 'g-2']) expect(needs.of(workload).askers).toEqual(['served policy direct']);
});

test('a workload is needed in the same way by objects that were read live', () => {
  const { needs } = open();
  const binding = { ...bindingObject('one'), status: { workload: { name: 'g-1', phase: 'Ready' } } };
  const objects = { routes: [], bindings: [binding as unknown as Stored<ModelBinding>], pins: new Map() };
  expect(needs.among('g-1', objects)).toEqual({ askers: ['one'], replicas: 1 });
  expect(needs.among('g-2', objects)).toEqual({ askers: [], replicas: 0 });
});
