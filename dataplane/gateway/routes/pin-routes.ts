import type { Lookup, RouteTable, TakenRoute } from './route-table.ts';

/** A workload and the application it is used for. */
export type UsedWorkload = { readonly workload: string; readonly generationId: string };

/** The route of one request, from its admission to its last window; releasing it twice does nothing. */
export type RoutePin = Disposable & { readonly route: TakenRoute };

export type PinResult =
  | { readonly kind: 'pinned'; readonly pin: RoutePin }
  | Exclude<Lookup, { readonly kind: 'route' }>;

/** Admits requests and counts what they use, so that nothing is taken away below a request in flight. */
export type RoutePins = {
  admit(alias: string): PinResult;
  /**
   * What requests in flight pin that no taken route does, and each workload that taken routes pin once, with one of
   * their applications: which other ones they pin stands in the routes. In a fixed order.
   */
  inUse(): readonly UsedWorkload[];
  /** Requests in flight. */
  readonly count: number;
};

/** `onLastRelease` is told when the last request of an application ends. */
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
