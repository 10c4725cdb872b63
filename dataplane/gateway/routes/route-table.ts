import type { GatewayRouteSpec } from '#resources/gateway-route';
import { type RouteParseResult, readRoute } from './read-route.ts';

/** One version of a route, as the watch delivered it. */
export type SeenRoute = {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  /** Seconds since 1970 at which the route was created. */
  readonly created: number;
  readonly spec: unknown;
};

/** A route that serves. */
export type TakenRoute = Omit<SeenRoute, 'spec'> & { readonly spec: GatewayRouteSpec };

/**
 * Result of probing one route version: the runtime matches the route, cannot be reached yet, or contradicts the route.
 */
export type ProbeVerdict =
  | { readonly kind: 'proved' }
  | { readonly kind: 'unreached' }
  | { readonly kind: 'contradicted'; readonly reason: string };

/** Result of looking up an alias. `unknown` is returned only after the complete list of routes was loaded. */
export type Lookup =
  | { readonly kind: 'route'; readonly route: TakenRoute }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'unknown' };

type RouteVersion = { readonly route: string; readonly uid: string; readonly version: string };
type RejectedVersion = RouteVersion & { readonly reason: string };

/** The served routes, and the newest route versions that are pending or rejected. */
export type TableState = {
  readonly taken: readonly TakenRoute[];
  readonly pending: readonly RouteVersion[];
  readonly rejected: readonly RejectedVersion[];
};

type Entry = {
  readonly seen: SeenRoute;
  readonly reading: RouteParseResult;
  readonly alias: string | undefined;
  verdict: ProbeVerdict;
  taken: TakenRoute | undefined;
};

const aliasConflict = 'alias_conflict';

/**
 * The routes of one gateway replica, in memory. A valid version serves after its probe has succeeded; until then it is
 * pending or rejected and the previous version keeps serving (docs/design/applications-and-routes.md). Two routes of
 * one alias reject each other. A deletion and state Disabled take effect immediately.
 */
export class RouteTable {
  readonly #entries = new Map<string, Entry>();
  /** Route names by the alias of their newest version, and route names by the alias of their served version. */
  readonly #claiming = new Map<string, Set<string>>();
  readonly #serving = new Map<string, Set<string>>();
  /** Names of routes whose newest version is not being served. */
  readonly #open = new Set<string>();
  readonly #namespace: string;
  #complete = false;

  /** @param namespace where the workloads of the routes run */
  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /**
   * Records the newest version of a route. @returns the spec when a probe must succeed before this version is served
   */
  observe(seen: SeenRoute): GatewayRouteSpec | undefined {
    const reading = readRoute(seen.spec, this.#namespace);
    const before = this.#entries.get(seen.name);
    const taken = before?.seen.uid === seen.uid ? before.taken : undefined;
    const alias = reading.ok ? reading.spec.alias : reading.alias;
    const entry: Entry = { seen, reading, alias, verdict: { kind: 'unreached' }, taken };
    this.remove(seen.name);
    this.#entries.set(seen.name, entry);
    this.#open.add(seen.name);
    file(this.#claiming, alias, seen.name);
    file(this.#serving, taken?.spec.alias, seen.name);
    if (!reading.ok) return undefined;
    if (reading.spec.guardrail.mode === 'Policy') return reading.spec;
    this.#judge(entry, { kind: 'proved' });
    return undefined;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Removes a deleted route. */
  remove(name: string): void {
    const entry = this.#entries.get(name);
    unfile(this.#claiming, entry?.alias, name);
    unfile(this.#serving, entry?.taken?.spec.alias, name);
    this.#open.delete(name);
    this.#entries.delete(name);
  }

  /** Call when the complete list of routes has been loaded. */
  complete(): void {
    this.#complete = true;
  }

  get isComplete(): boolean {
    return this.#complete;
  }

  /** Records the result of a probe. The result is ignored when the route has a newer version. */
  probed(name: string, version: string, verdict: ProbeVerdict): void {
    const entry = this.#entries.get(name);
    if (entry?.seen.version === version) this.#judge(entry, verdict);
  }

  lookup(alias: string): Lookup {
    const claimants = this.#claimants(alias);
    if (claimants.length > 1) return { kind: 'unavailable' };
    const [owner] = claimants;
    const serving = this.#filed(this.#serving, alias);
    if (owner === undefined && serving.length === 0)
      return this.#complete ? { kind: 'unknown' } : { kind: 'unavailable' };
    const entry = owner ?? (serving.length === 1 ? serving[0] : undefined);
    if (entry?.reading.ok && entry.reading.spec.state === 'Disabled') return { kind: 'disabled' };
    const route = entry?.taken;
    if (route === undefined || route.spec.alias !== alias) return { kind: 'unavailable' };
    return route.spec.state === 'Disabled' ? { kind: 'disabled' } : { kind: 'route', route };
  }

  /** Whether a route version is pending: neither served nor rejected. */
  hasPending(): boolean {
    for (const name of this.#open) {
      const entry = this.#entries.get(name);
      if (entry !== undefined && this.#rejection(entry) === undefined) return true;
    }
    return false;
  }

  state(): TableState {
    const taken: TakenRoute[] = [];
    const pending: RouteVersion[] = [];
    const rejected: RejectedVersion[] = [];
    for (const entry of this.#entries.values()) {
      const { name, uid, version } = entry.seen;
      const place = { route: name, uid, version };
      const reason = this.#rejection(entry);
      if (reason !== undefined) rejected.push({ ...place, reason });
      else if (entry.taken?.version !== version) pending.push(place);
      if (entry.taken !== undefined) taken.push(entry.taken);
    }
    return { taken, pending, rejected };
  }

  #judge(entry: Entry, verdict: ProbeVerdict): void {
    entry.verdict = verdict;
    if (verdict.kind !== 'proved' || !entry.reading.ok) return;
    const { name } = entry.seen;
    unfile(this.#serving, entry.taken?.spec.alias, name);
    entry.taken = { ...entry.seen, spec: entry.reading.spec };
    file(this.#serving, entry.taken.spec.alias, name);
    this.#open.delete(name);
  }

  #rejection(entry: Entry): string | undefined {
    if (!entry.reading.ok) return entry.reading.reason;
    if (this.#claimants(entry.reading.spec.alias).length > 1) return aliasConflict;
    return entry.verdict.kind === 'contradicted' ? entry.verdict.reason : undefined;
  }

  #claimants(alias: string): Entry[] {
    return this.#filed(this.#claiming, alias);
  }

  #filed(files: ReadonlyMap<string, ReadonlySet<string>>, alias: string): Entry[] {
    return this.#named(files.get(alias) ?? []);
  }

  #named(names: Iterable<string>): Entry[] {
    return [...names].flatMap((name) => this.#entries.get(name) ?? []);
  }
}

function file(files: Map<string, Set<string>>, alias: string | undefined, name: string): void {
  if (alias === undefined) return;
  const names = files.get(alias);
  if (names === undefined) files.set(alias, new Set([name]));
  else names.add(name);
}

function unfile(files: Map<string, Set<string>>, alias: string | undefined, name: string): void {
  if (alias === undefined) return;
  const names = files.get(alias);
  names?.delete(name);
  if (names?.size === 0) files.delete(alias);
}
