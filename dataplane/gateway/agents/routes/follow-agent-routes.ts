import type { Logger } from '#kit/log/logger';
import type { AgentRoute, RoutedVersion } from '#resources/agent-route';
import { type FollowedRoutes, followProved, type RouteProof } from '../../routes/follow-proved.ts';
import { seenRoute } from '../../routes/follow-routes.ts';
import type { OpenRouteSource } from '../../routes/ports.ts';
import type { AgentTable } from './agent-table.ts';

type FollowAgentOptions = {
  readonly table: AgentTable;
  readonly openSource: OpenRouteSource<AgentRoute>;
  /** Asks the process of one version whether it is ready, and whether it has the same card as the route. */
  readonly prove: (version: RoutedVersion, signal: AbortSignal) => Promise<RouteProof>;
  readonly onChange: (seen: boolean) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly waits?: { readonly firstMs: number; readonly maxMs: number };
};

/**
 * Keeps the table of agents up to date. A route takes effect when the processes of the served version and of the
 * version on trial were proved. Previous versions are not probed, because an unavailable previous version must not stop
 * a rollback or a new version.
 */
export function followAgentRoutes(options: FollowAgentOptions): FollowedRoutes {
  const { table, openSource, prove, onChange, logger, waits } = options;
  return followProved<AgentRoute>({
    table,
    isOurs: () => true,
    observe(name, current) {
      const spec = table.observe(seenRoute(name, current));
      if (spec === undefined) return undefined;
      const proved = [spec.served, spec.canary?.versionId];
      const versions = spec.versions.filter(({ versionId }) => proved.includes(versionId));
      return async (signal) => {
        const proofs = await Promise.all(versions.map((version) => prove(version, signal)));
        return proofs.find(({ ok }) => !ok) ?? { ok: true };
      };
    },
    openSource,
    onChange,
    logger,
    ...(waits === undefined ? {} : { waits }),
  });
}
