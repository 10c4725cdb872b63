import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import type { Stored } from '#resources/metadata';
import type { Stores } from '../caches/caches.ts';

type Report = Stored<GatewayReport>;
type AgentsReport = NonNullable<GatewayReport['spec']['agents']>;

/**
 * Names of the Agents that a changed report of a replica affects: their routes are newly passed, pending or rejected, or
 * their deletion waits for the replica. A replica that starts, ends or becomes ready affects all of them.
 */
export function concernedAgents(
  stores: Pick<Stores, 'agents' | 'agentRoutes'>,
  current: Report | undefined,
  previous: Report | undefined,
): readonly string[] {
  const [now, then] = [current?.spec.agents, previous?.spec.agents];
  if (now === undefined && then === undefined) return [];
  const names = stores.agents.list().map(({ metadata }) => metadata.name);
  const isSame = current?.spec.ready === previous?.spec.ready && current?.spec.bootId === previous?.spec.bootId;
  if (now === undefined || then === undefined || !isSame) return names;
  const concerned = new Set([
    ...changed(now.pending, then.pending),
    ...changed(now.rejected, then.rejected),
    ...stores.agentRoutes
      .list()
      .filter(({ metadata }) => isPast(now, metadata.resourceVersion) !== isPast(then, metadata.resourceVersion))
      .map(({ metadata }) => metadata.name),
  ]);
  return names.filter(
    (name) => concerned.has(name) || stores.agents.get(name)?.metadata.deletionTimestamp !== undefined,
  );
}

function isPast({ appliedThrough }: AgentsReport, version: string): boolean {
  return isVersion(appliedThrough) && isVersion(version) && compareVersions(appliedThrough, version) >= 0;
}

type Entry = AgentsReport['pending'][number] & { readonly reason?: string };

function changed(now: readonly Entry[], then: readonly Entry[]): readonly string[] {
  const keyOf = ({ route, uid, version, reason }: Entry): string => JSON.stringify([route, uid, version, reason]);
  const [before, after] = [new Set(then.map(keyOf)), new Set(now.map(keyOf))];
  return [...now.filter((one) => !before.has(keyOf(one))), ...then.filter((one) => !after.has(keyOf(one)))].map(
    ({ route }) => route,
  );
}
