// Usage: node --expose-gc follow-bindings.ts ACCESS: watches all bindings and prints time and memory as JSON.

import { createClient } from '#kube/client/client';
import type { ClientCertificate } from '#kube/client/cluster-access';
import { startReflector } from '#kube/watch/reflector';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';

type Access = {
  readonly url: string;
  readonly caPem: string;
  readonly clientCertificate: ClientCertificate;
  readonly namespace: string;
};

export type WatchTimes = {
  readonly objects: number;
  /** Seconds from the first request to the delivery of the last object. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly heapBytesPerObject: number;
  readonly peakResidentMiB: number;
};

const access = JSON.parse(process.argv[2] ?? '{}') as Access;
const credentials = { authorization: () => undefined };
await using client = createClient({ ...access, credentials });

function heapAtRest(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const before = heapAtRest();
const cpuBefore = process.cpuUsage();
const begun = performance.now();
await using reflector = startReflector<ModelBinding>({
  client,
  kind: kinds.modelBinding,
  logger: { info() {}, warn() {} },
  onChange() {},
  indexes: {
    id: ({ metadata }) => Object.values({ id: metadata.labels?.[idLabel] ?? '' }),
    alias: ({ spec }) => [JSON.stringify([spec.gateway, spec.model.alias])],
    policy: ({ spec }) => (spec.guardrail.mode === 'Policy' ? [spec.guardrail.policyRef.name] : []),
  },
});
await reflector.synced;
const seconds = (performance.now() - begun) / 1_000;
const { user, system } = process.cpuUsage(cpuBefore);
const objects = reflector.store.size;
const followed: WatchTimes = {
  objects,
  seconds,
  cpuSeconds: (user + system) / 1_000_000,
  heapBytesPerObject: Math.round((heapAtRest() - before) / objects),
  peakResidentMiB: Math.round(process.resourceUsage().maxRSS / 1_024),
};
console.log(JSON.stringify(followed));
