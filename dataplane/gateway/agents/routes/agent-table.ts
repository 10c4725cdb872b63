import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';
import type { ProbeVerdict, SeenRoute } from '../../routes/route-table.ts';
import { type ReadAgentRoute, readAgentRoute } from './read-agent-route.ts';
import { UnlistedVersions } from './unlisted-versions.ts';

/** A route of an agent that serves. */
type TakenAgentRoute = Omit<SeenRoute, 'spec'> & { readonly spec: AgentRouteSpec };

/** `unknown` and `unavailable`: no version of the route has been proved yet. */
export type AgentLookup =
  | { readonly kind: 'route'; readonly route: TakenAgentRoute }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'unknown' };

/** The version of a run, and the name of its agent. */
type VersionOfRun = { readonly agentName: string; readonly version: RoutedVersion };

type Place = { readonly route: string; readonly uid: string; readonly version: string };
export type AgentTableState = {
  readonly taken: readonly TakenAgentRoute[];
  readonly pending: readonly Place[];
  readonly rejected: readonly (Place & { readonly reason: string })[];
};

type Entry = {
  readonly seen: SeenRoute;
  readonly reading: ReadAgentRoute;
  verdict: ProbeVerdict;
  taken: TakenAgentRoute | undefined;
  /** Versions that earlier routes listed. */
  readonly unlisted: UnlistedVersions;
};

/**
 * The routes of agents of one gateway replica, in memory. The newest version of a route takes effect once the agent
 * versions that it adds were proved; until then the previous version of the route is used. Two routes of one agent
 * reject each other.
 */
export class AgentTable {
  readonly #entries = new Map<string, Entry>();
  /** Names of routes by the id of their agent. */
  readonly #byAgent = new Map<string, Set<string>>();
  /** Names of the routes that serve, by the name of their agent. */
  readonly #servingByName = new Map<string, Set<string>>();
  readonly #namespace: string;
  readonly #now: () => number;
  #isComplete = false;

  /** @param namespace where the workloads of the routes run */
  constructor(namespace: string, now: () => number = () => performance.now()) {
    this.#namespace = namespace;
    this.#now = now;
  }

  /** Records the newest version of a route. @returns the spec if it must be proved before it serves */
  observe(seen: SeenRoute): AgentRouteSpec | undefined {
    const before = this.#entries.get(seen.name);
    const reading = readAgentRoute(seen.spec, this.#namespace);
    const taken = before?.seen.uid === seen.uid ? before.taken : undefined;
    // A route never moves to another agent.
    const agentBefore = before?.seen.uid === seen.uid ? agentIdOf(before) : undefined;
    const isMoved = reading.ok && agentBefore !== undefined && agentBefore !== reading.spec.agentId;
    const unlisted = agentBefore === undefined || isMoved ? undefined : unlistedOf(before);
    this.remove(seen.name);
    const entry: Entry = {
      seen,
      reading,
      verdict: { kind: 'unreached' },
      taken: isMoved ? undefined : taken,
      unlisted: unlisted ?? new UnlistedVersions(this.#now),
    };
    this.#entries.set(seen.name, entry);
    this.#index(entry.taken, true);
    const agentId = agentIdOf(entry);
    if (agentId !== undefined) this.#byAgent.set(agentId, (this.#byAgent.get(agentId) ?? new Set()).add(seen.name));
    return reading.ok ? reading.spec : undefined;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  remove(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    this.#entries.delete(name);
    this.#index(entry.taken, false);
    const agentId = agentIdOf(entry);
    if (agentId === undefined) return;
    const names = this.#byAgent.get(agentId);
    names?.delete(name);
    if (names?.size === 0) this.#byAgent.delete(agentId);
  }

  probed(name: string, version: string, verdict: ProbeVerdict): void {
    const entry = this.#entries.get(name);
    if (entry?.seen.version !== version) return;
    entry.verdict = verdict;
    if (verdict.kind !== 'proved' || !entry.reading.ok) return;
    entry.unlisted.replaced(entry.taken?.spec, entry.reading.spec);
    this.#index(entry.taken, false);
    entry.taken = { ...entry.seen, spec: entry.reading.spec };
    this.#index(entry.taken, true);
  }

  /** Call when the complete list of routes has been loaded. */
  complete(): void {
    this.#isComplete = true;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  lookup(agentId: string): AgentLookup {
    const [name, ...more] = this.#byAgent.get(agentId) ?? [];
    if (name === undefined) return this.#isComplete ? { kind: 'unknown' } : { kind: 'unavailable' };
    const route = more.length === 0 ? this.#entries.get(name)?.taken : undefined;
    return route === undefined ? { kind: 'unavailable' } : { kind: 'route', route };
  }

  /**
   * The version of a run: one that the route lists, or has listed for as long as the run may last. The newest route counts before
   * this replica has proved it: another replica may serve it already, and its runs request their tokens here, too.
   */
  versionOfRun(run: { readonly agentId: string; readonly versionId: string }): VersionOfRun | undefined {
    const { agentId, versionId } = run;
    const [name = '', ...more] = this.#byAgent.get(agentId) ?? [];
    const entry = more.length === 0 ? this.#entries.get(name) : undefined;
    if (entry === undefined) return undefined;
    for (const spec of [entry.taken?.spec, entry.reading.ok ? entry.reading.spec : undefined]) {
      const version = spec?.versions.find((one) => one.versionId === versionId);
      if (spec !== undefined && version !== undefined) return { agentName: spec.agent.name, version };
    }
    const found = entry.unlisted.find(versionId);
    return found === undefined ? undefined : { agentName: found.agent.name, version: found.version };
  }

  /** Drops unlisted versions whose runs have ended. @returns how many are kept */
  forgetUnlisted(): number {
    return this.#entries.values().reduce((kept, { unlisted }) => kept + unlisted.forget(), 0);
  }

  /** The id of the agent with this id or this name; undefined without a route that serves. */
  named(name: string): string | undefined {
    if (this.#byAgent.has(name)) return this.lookup(name).kind === 'route' ? name : undefined;
    const [route = '', ...more] = this.#servingByName.get(name) ?? [];
    return more.length === 0 ? this.#entries.get(route)?.taken?.spec.agentId : undefined;
  }

  /** Whether a route has a version that is neither accepted nor rejected yet. */
  hasPending(): boolean {
    return this.state().pending.length > 0;
  }

  state(): AgentTableState {
    const [taken, pending, rejected]: [TakenAgentRoute[], Place[], (Place & { reason: string })[]] = [[], [], []];
    for (const entry of this.#entries.values()) {
      const { name, uid, version } = entry.seen;
      const reason = this.#rejectionOf(entry);
      if (reason !== undefined) rejected.push({ route: name, uid, version, reason });
      else if (entry.taken?.version !== version) pending.push({ route: name, uid, version });
      if (entry.taken !== undefined) taken.push(entry.taken);
    }
    return { taken, pending, rejected };
  }

  /** Keeps the names of agents in step with the routes that serve. */
  #index(taken: TakenAgentRoute | undefined, serves: boolean): void {
    if (taken === undefined) return;
    const { name } = taken.spec.agent;
    const routes = this.#servingByName.get(name) ?? new Set<string>();
    if (serves) this.#servingByName.set(name, routes.add(taken.name));
    else if (routes.delete(taken.name) && routes.size === 0) this.#servingByName.delete(name);
  }

  #rejectionOf({ reading, verdict }: Entry): string | undefined {
    if (!reading.ok) return reading.reason;
    if ((this.#byAgent.get(reading.spec.agentId)?.size ?? 0) > 1) return 'agent_conflict';
    return verdict.kind === 'contradicted' ? verdict.reason : undefined;
  }
}

function agentIdOf({ reading, taken }: Entry): string | undefined {
  return reading.ok ? reading.spec.agentId : taken?.spec.agentId;
}

/** The versions to keep of a route and of those before it. A route that never served here may serve at another replica. */
function unlistedOf(before: Entry | undefined): UnlistedVersions | undefined {
  if (before === undefined) return undefined;
  const { reading, taken, unlisted } = before;
  if (reading.ok && taken?.spec !== reading.spec) unlisted.keep(reading.spec);
  return unlisted;
}
