import { expect, test } from 'vitest';
import type { GatewayReport } from '#resources/gateway-report';
import type { Stored } from '#resources/metadata';
import { sampleReport } from '../testing/sample-resources.ts';
import { createObjectStore } from './object-store.ts';

function report(name: string, gateways: string): Stored<GatewayReport> {
  return sampleReport(name, { labels: { gateways } }) as Stored<GatewayReport>;
}

const names = (reports: readonly Stored<GatewayReport>[]) => reports.map((one) => one.metadata.name).sort();

test('an index lists an object under each of its keys after every change', () => {
  const store = createObjectStore<GatewayReport>({
    gateway: (one) => (one.metadata.labels?.['gateways'] ?? '').split('.'),
  });
  store.set(report('a', 'x.y'));
  store.set(report('b', 'y'));
  expect(names(store.by('gateway', 'y'))).toEqual(['a', 'b']);
  store.set(report('a', 'z'));
  expect(names(store.by('gateway', 'x'))).toEqual([]);
  expect(names(store.by('gateway', 'y'))).toEqual(['b']);
  expect(names(store.by('gateway', 'z'))).toEqual(['a']);
  store.remove('b');
  store.remove('absent');
  expect(names(store.by('gateway', 'y'))).toEqual([]);
  expect(names(store.list())).toEqual(['a']);
  expect(store.size).toBe(1);
  expect(store.get('b')).toBeUndefined();
});

test('an index that was not declared is an error', () => {
  expect(() => createObjectStore({}).by('gateway', 'x')).toThrow(TypeError);
});
