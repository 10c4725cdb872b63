import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import type { Caches, Stores } from '../../caches/caches.ts';
import type { AgentVersionSnapshot } from './snapshot.ts';

type Uses = Pick<AgentVersionSnapshot, 'routedBy' | 'users'>;

/**
 * The route that lists a version, and the gateway replicas, ready or not, that have calls of the version. A replica
 * that may not have seen the change or the deletion of the agent's route is included, because a call may still begin
 * there.
 */
export function usesOf(
  {
    stores,
    history,
  }: {
    readonly stores: Pick<Stores, 'agentRoutes' | 'reports'>;
    readonly history: Pick<Caches, 'removalOfAgentRoute'>;
  },
  { metadata, spec }: Pick<Stored<AgentVersion>, 'metadata' | 'spec'>,
): Uses {
  if (metadata.deletionTimestamp === undefined) return { routedBy: undefined, users: [] };
  const [routing] = stores.agentRoutes.by('version', metadata.uid);
  const since = stores.agentRoutes.get(spec.agent)?.metadata.resourceVersion ?? history.removalOfAgentRoute(spec.agent);
  const users = stores.reports.list().filter(({ spec: { agents } }) => {
    if (agents === undefined) return false;
    const isCalled = agents.inUse.some(({ versionId }) => versionId === metadata.uid);
    return isCalled || (since !== undefined && !hasPassed(agents.appliedThrough, since));
  });
  return { routedBy: routing?.spec.agent.name, users: users.map((report) => report.metadata.name) };
}

function hasPassed(version: string, other: string): boolean {
  return isVersion(version) && isVersion(other) && compareVersions(version, other) >= 0;
}
