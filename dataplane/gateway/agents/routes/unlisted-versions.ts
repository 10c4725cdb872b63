import { flowLimits } from '#contracts/flow-limits';
import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';

/** A call that was admitted before its version was unlisted has ended after this time, milliseconds. */
const keptMs = flowLimits.run.timeoutMs.max + 30_000;

/**
 * The versions that a route has listed, for as long as a run of them may last. No call reaches them; runs in progress
 * can still request tokens (docs/design/agent-routes.md).
 */
export class UnlistedVersions {
  readonly #now: () => number;
  readonly #versions = new Map<string, { readonly version: RoutedVersion; readonly until: number }>();

  /** @param now a clock that never goes back, milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Notes the versions that are no longer listed. Called when a newer version of the route replaces the previous one.
   */
  replaced(before: AgentRouteSpec | undefined, next: AgentRouteSpec): void {
    this.forget();
    const until = this.#now() + keptMs;
    // The runs of another agent with the same name have no rights here.
    if (before?.agent.uid !== next.agent.uid) this.#versions.clear();
    else for (const version of before.versions) this.#versions.set(version.versionId, { version, until });
    for (const { versionId } of next.versions) this.#versions.delete(versionId);
  }

  /** Drops the versions whose runs have ended. @returns how many are kept */
  forget(): number {
    const now = this.#now();
    for (const [id, { until }] of this.#versions) if (until <= now) this.#versions.delete(id);
    return this.#versions.size;
  }

  find(versionId: string): RoutedVersion | undefined {
    const found = this.#versions.get(versionId);
    return found !== undefined && this.#now() < found.until ? found.version : undefined;
  }
}
