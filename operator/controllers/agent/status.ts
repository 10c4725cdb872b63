import { setCondition } from '#kube/apply/conditions';
import { type Agent, type AgentStatus, agentLimits } from '#resources/agent';
import { checkedTexts } from '#resources/agent-protection';
import type { AgentRouteSpec } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import { agentConditions } from './conditions.ts';
import type { AgentResult } from './decide.ts';
import { previousVersions } from './plan-route.ts';
import type { AgentSnapshot } from './snapshot.ts';

/** The status at the end of a pass. The served version changes only when every ready replica has loaded the route. */
export function makeAgentStatus(
  { status }: Stored<Agent>,
  s: AgentSnapshot,
  result: AgentResult,
  {
    url,
    now,
    versionOf,
  }: {
    readonly url: string | undefined;
    readonly now: Date;
    readonly versionOf: (name: string) => AgentVersion | undefined;
  },
): AgentStatus {
  const conditions = agentConditions(result, s).reduce(
    (list, change) => setCondition(list, change, now),
    status?.conditions ?? ([] as ReturnType<typeof setCondition>),
  );
  const confirmed = confirmedOf(s, result);
  const served = confirmed.served === undefined ? undefined : versionOf(confirmed.served.version);
  const checked = served === undefined ? [] : checkedTexts(served);
  return {
    conditions: [...conditions],
    observedGeneration: s.generation,
    agentId: s.identity.agentId,
    ...(url === undefined ? {} : { url }),
    ...confirmed,
    ...(checked.length === 0 ? {} : { checked: [...checked] }),
  };
}

function confirmedOf(s: AgentSnapshot, result: AgentResult): AgentSnapshot['confirmed'] {
  const { served, canary, previous } = s.confirmed;
  const isConfirmed = result.kind === 'routed' && result.state.kind === 'confirmed';
  if (!isConfirmed || result.route === undefined) {
    return {
      ...(served === undefined ? {} : { served }),
      ...(canary === undefined ? {} : { canary }),
      ...(previous === undefined ? {} : { previous }),
    };
  }
  return confirmedBy(s, result.route);
}

function confirmedBy(s: AgentSnapshot, route: AgentRouteSpec): AgentSnapshot['confirmed'] {
  const named = (versionId: string | undefined): { version: string; versionId: string } | undefined => {
    const found = route.versions.find((one) => one.versionId === versionId);
    return found === undefined ? undefined : { version: found.version, versionId: found.versionId };
  };
  const served = named(route.served);
  const canary = named(route.canary?.versionId);
  const previous = previousVersions(s, route.served, route.canary?.versionId)
    .flatMap((id) => named(id) ?? [])
    .slice(0, s.spec.keep ?? agentLimits.keep.default);
  return {
    ...(served === undefined ? {} : { served }),
    ...(canary === undefined || route.canary === undefined
      ? {}
      : { canary: { ...canary, percent: route.canary.percent } }),
    ...(previous.length === 0 ? {} : { previous }),
  };
}
