import { expect, test } from 'vitest';
import type { GatewayReportSpec } from './gateway-report.ts';
import { providerFactOf } from './provider-fact.ts';

type States = NonNullable<GatewayReportSpec['providers']>;
const upstream = { provider: 'echo', endpoint: 'http://echo/v1', model: 'm' };
const factOf = (providers: States, { ready = true, workload = 'g-1' } = {}) =>
  providerFactOf([{ ready, providers }], { upstream, workload });

const reachable = { provider: 'echo' } as const;
const silent = { provider: 'spam', workload: 'g-1', rule: 'no-spam', cause: 'refused' } as const;
const failing = { kind: 'failing', provider: 'spam', rule: 'no-spam', cause: 'refused' };

test('a detector that fails in the workload of a route is the fault of that route, and of no other', () => {
  expect(factOf([reachable, silent])).toEqual(failing);
  expect(factOf([silent])).toEqual(failing);
  expect(factOf([reachable, silent], { workload: 'g-2' })).toEqual({ kind: 'reachable' });
  const unguarded = providerFactOf([{ ready: true, providers: [reachable, silent] }], { upstream });
  expect(unguarded).toEqual({ kind: 'reachable' });
  expect(factOf([reachable, silent], { ready: false })).toEqual({ kind: 'unknown' });
});

test('a fault of the model takes precedence over a fault of a detector', () => {
  const down = { provider: 'echo', cause: 'credential_refused' } as const;
  expect(factOf([silent, down])).toEqual({ kind: 'failing', provider: 'echo', cause: 'credential_refused' });
});

test("a detector with the name of the model's provider is no fault of the model", () => {
  const namesake = { ...silent, provider: 'echo', workload: 'g-2' };
  expect(factOf([namesake])).toEqual({ kind: 'unknown' });
});
