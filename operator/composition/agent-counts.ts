import type { Metrics } from '#kit/metrics/metrics';
import type { StoreView } from '#kube/watch/object-store';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';

/**
 * Number of versions of agents that are served or on trial but cannot accept calls; only the leader reports it.
 * Previous versions, which a route keeps for calls that name them, are not counted: a failing version that was already
 * replaced would hide the next fault.
 */
type AgentCounts = {
  /** Starts to count the objects of the stores at every scrape. */
  watch(watched: Watched): void;
  /** Updates the gauge; called before a scrape. */
  refresh(): void;
};

type Watched = {
  readonly agentRoutes: Pick<StoreView<AgentRoute>, 'list'>;
  readonly agentVersions: Pick<StoreView<AgentVersion>, 'get'>;
};

/** A version that is deleted takes its calls until no route has it: these reasons of Ready name no fault. */
const leaving = ['Routed', 'Draining'];

export function createAgentCounts(metrics: Metrics): AgentCounts {
  const gauge = metrics.gauge({
    name: 'portcullis_operator_agent_versions_not_ready',
    help: 'Versions of agents that are served or on trial and are not ready: their calls are refused. Only the leader counts them.',
    labels: {},
  });
  let watched: Watched | undefined;
  return {
    watch(next) {
      watched = next;
    },
    refresh() {
      if (watched === undefined) return;
      const { agentRoutes, agentVersions } = watched;
      const routed = agentRoutes.list().flatMap(({ spec: { served, canary, versions } }) => {
        return versions.filter(({ versionId }) => versionId === served || versionId === canary?.versionId);
      });
      const unready = routed.filter(({ version, versionId }) => {
        const found = agentVersions.get(version);
        return found?.metadata.uid !== versionId || !takesCalls(found);
      });
      gauge.set({}, unready.length);
    },
  };
}

function takesCalls({ status }: Pick<AgentVersion, 'status'>): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' || (ready !== undefined && leaving.includes(ready.reason));
}
