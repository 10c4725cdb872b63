import { flowLimits } from '#contracts/flow-limits';
import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';

/** A call that was admitted before its version was unlisted has ended after this time, milliseconds. */
const keptMs = flowLimits.run.timeoutMs.max + 30_000;

type Kept = { readonly version: RoutedVersion; readonly agent: AgentRouteSpec['agent']; readonly until: number };

/**
 * The versions that a route has listed, for as long as a run of them may last. No call reaches them; runs in progress
 * can still request tokens (docs/design/agent-routes.md).
 */
export class UnlistedVersions {
  readonly #now: () => number;
  readonly #versions = new Map<string, Kept>();

  /** @param now a clock that never goes back, milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Notes the versions that are no longer listed. Called when a newer version of the route replaces the previous one.
   */
  replaced(before: AgentRouteSpec | undefined, next: AgentRouteSpec): void {
    this.forget();
    if (before !== undefined) this.keep(before);
    // The runs of another agent of the same name have no rights here.
    for (const [id, { agent }] of this.#versions) if (agent.uid !== next.agent.uid) this.#versions.delete(id);
    for (const { versionId } of next.versions) this.#versions.delete(versionId);
  }

  /** Keeps the versions of a route that is no longer the newest one, whether or not it has served here. */
  keep({ agent, versions }: AgentRouteSpec): void {
    const until = this.#now() + keptMs;
    for (const version of versions) this.#versions.set(version.versionId, { version, agent, until });
  }

  /** Drops the versions whose runs have ended. @returns how many are kept */
  forget(): number {
    const now = this.#now();
    for (const [id, { until }] of this.#versions) if (until <= now) this.#versions.delete(id);
    return this.#versions.size;
  }

  find(versionId: string): Pick<Kept, 'version' | 'agent'> | undefined {
    const found = this.#versions.get(versionId);
    return found !== undefined && this.#now() < found.until ? found : undefined;
  }
}
