import { setImmediate as turn } from 'node:timers/promises';
import type { Stores } from '../../caches/caches.ts';
import type { ServedPolicies } from '../../served/ports.ts';
import type { NeedsFinder } from './needed-workloads.ts';
import type { Need } from './snapshot.ts';

/** How long bindings are looked at in one turn of the event loop, milliseconds. */
const turnMs = 2;

/** What is needed as far as the caches tell; only what a change concerns is found anew. */
export type NeedsLedger = {
  /** A binding, the route of its name, or something that they refer to has changed. */
  touch(name: string): void;
  /** Resolves when everything that was touched before is taken into account; rejects when that cannot be told now. */
  settle(): Promise<void>;
  /** Who needs a workload. */
  of(workload: string): Need;
  isNeeded(workload: string): boolean;
};

/** @param onChange told of a workload that is needed now, or is not any more, or by another number of processes */
export function createNeedsLedger(options: {
  readonly finder: NeedsFinder;
  readonly stores: Pick<Stores, 'bindings' | 'routes'>;
  readonly served: Pick<ServedPolicies, 'pins'>;
  readonly onChange: (workload: string) => void;
}): NeedsLedger {
  const { finder, stores, served, onChange } = options;
  /** By asker its workloads. */
  const asked = new Map<string, readonly string[]>();
  /** By workload its askers, each with the number of processes. */
  const askers = new Map<string, Map<string, number>>();
  const touched = new Set<string>();
  let addresses: readonly string[] = [];
  let settling: Promise<void> = Promise.resolve();

  function replicasOf(workload: string): number {
    let most = 0;
    for (const replicas of askers.get(workload)?.values() ?? []) most = Math.max(most, replicas);
    return most;
  }

  function enter(asker: string, workloads: readonly string[], replicas: number): void {
    const concerned = new Set([...(asked.get(asker) ?? []), ...workloads]);
    const before = [...concerned].map((workload) => [workload, replicasOf(workload)] as const);
    for (const workload of concerned) {
      const held = askers.get(workload) ?? new Map<string, number>();
      if (workloads.includes(workload)) held.set(asker, replicas);
      else held.delete(asker);
      if (held.size === 0) askers.delete(workload);
      else askers.set(workload, held);
    }
    if (workloads.length === 0) asked.delete(asker);
    else asked.set(asker, workloads);
    for (const [workload, most] of before) if (replicasOf(workload) !== most) onChange(workload);
  }

  async function refresh(): Promise<void> {
    let since = performance.now();
    for (const name of touched) {
      touched.delete(name);
      try {
        const binding = stores.bindings.get(name);
        enter(name, await finder.ofBinding(binding, stores.routes.get(name)), binding?.spec.replicas ?? 1);
      } catch (error) {
        touched.add(name);
        throw error;
      }
      if (performance.now() - since < turnMs) continue;
      await turn();
      since = performance.now();
    }
    const needs = await finder.ofServed(served.pins());
    for (const gone of addresses) if (!needs.has(gone)) enter(gone, [], 1);
    for (const [asker, { workloads, replicas }] of needs) enter(asker, workloads, replicas);
    addresses = [...needs.keys()];
  }

  return {
    touch(name) {
      touched.add(name);
    },
    settle() {
      settling = settling.catch(() => undefined).then(refresh);
      return settling;
    },
    isNeeded: (workload) => askers.has(workload),
    of: (workload) => ({ askers: [...(askers.get(workload)?.keys() ?? [])], replicas: replicasOf(workload) }),
  };
}
