import type { Lookup, RouteTable, TakenRoute } from './route-table.ts';

/** A workload and the application that uses it. */
export type UsedWorkload = { readonly workload: string; readonly generationId: string };

/**
 * The route of one request. It stays pinned until the last window of the request was checked; releasing the pin twice
 * has no effect.
 */
export type RoutePin = Disposable & { readonly route: TakenRoute };

type PinResult = { readonly kind: 'pinned'; readonly pin: RoutePin } | Exclude<Lookup, { readonly kind: 'route' }>;

/** Pins routes for requests and counts the workloads in use, so that no workload is stopped while a request uses it. */
export type RoutePins = {
  admit(alias: string): PinResult;
  /**
   * Each workload of a served route once, with one of its applications, and each application that only requests in
   * flight still use. The order never changes.
   */
  inUse(): readonly UsedWorkload[];
  /** Requests in flight. */
  readonly count: number;
};

/** `onLastRelease` is called when the last request that uses an application ends. */
export function createRoutePins(table: RouteTable, onLastRelease: () => void): RoutePins {
  const flights = new Map<string, UsedWorkload & { count: number }>();
  let count = 0;

  function pin(route: TakenRoute): RoutePin {
    const used = workloadOf(route);
    const key = used === undefined ? undefined : keyOf(used);
    const flight = key === undefined ? undefined : flights.get(key);
    if (flight !== undefined) flight.count += 1;
    else if (used !== undefined && key !== undefined) flights.set(key, { ...used, count: 1 });
    count += 1;
    let held = true;
    return {
      route,
      [Symbol.dispose]() {
        if (!held) return;
        held = false;
        count -= 1;
        if (key !== undefined) release(key);
      },
    };
  }

  function release(key: string): void {
    const flight = flights.get(key);
    if (flight === undefined) return;
    flight.count -= 1;
    if (flight.count > 0) return;
    flights.delete(key);
    onLastRelease();
  }

  return {
    admit(alias) {
      const found = table.lookup(alias);
      return found.kind === 'route' ? { kind: 'pinned', pin: pin(found.route) } : found;
    },
    inUse() {
      const taken = new Set<string>();
      const first = new Map<string, UsedWorkload>();
      for (const route of table.state().taken) {
        const one = workloadOf(route);
        if (one === undefined) continue;
        taken.add(keyOf(one));
        const held = first.get(one.workload);
        if (held === undefined || one.generationId < held.generationId) first.set(one.workload, one);
      }
      const used = new Map([...first.values()].map((one) => [keyOf(one), one]));
      for (const [key, { workload, generationId }] of flights) {
        if (!taken.has(key)) used.set(key, { workload, generationId });
      }
      return [...used.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, workload]) => workload);
    },
    get count() {
      return count;
    },
  };
}

function workloadOf({ spec }: TakenRoute): UsedWorkload | undefined {
  if (spec.guardrail.mode === 'None' || spec.workload === undefined) return undefined;
  return { workload: spec.workload, generationId: spec.generationId };
}

function keyOf({ workload, generationId }: UsedWorkload): string {
  return `${workload}/${generationId}`;
}
