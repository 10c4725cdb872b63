import { type AgentLifecycle, catalogueLimits } from '#contracts/catalogue';
import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import type { Condition, Stored } from '#resources/metadata';
import type { AgentContent } from '../records/agent-content.ts';
import { describeVersion } from '../records/describe-version.ts';
import { isId } from '../records/read-agents.ts';
import { safeText } from '../records/safe-text.ts';

/** The resources of one agent, read at one moment. */
type ObservedAgent = {
  readonly agent: Stored<Agent>;
  /** The AgentVersion of a name. */
  readonly version: (name: string) => Stored<AgentVersion> | undefined;
  readonly route: Stored<AgentRoute> | undefined;
  readonly now: Date;
  /**
   * Since when the worker has seen that the process of the version is unavailable, milliseconds; undefined if the
   * worker never saw the process ready.
   */
  readonly lostSince: number | undefined;
  /** Number of Agent resources that have the id of this agent. */
  readonly claims: number;
};

export type RecordDecision = {
  readonly content: AgentContent;
  /** When the state changes without a change of a resource. */
  readonly again: Date | undefined;
};

/** How long an endpoint may be unavailable before its agent is degraded, milliseconds. */
const lostMs = 30_000;

/**
 * The entry of an agent in the catalogue (docs/design/catalogue.md): its state follows the version that is served.
 * @returns undefined for an agent that has no id yet, or whose id is not valid; the operator replaces an invalid id
 */
export function decideRecord(observed: ObservedAgent): RecordDecision | undefined {
  const { agent, route } = observed;
  const { spec, status } = agent;
  if (status?.agentId === undefined || !isId(status.agentId)) return undefined;
  const version = shownVersion(observed);
  const described = version === undefined ? undefined : describeVersion(version);
  const { state, again } = stateOf(observed, version);
  const versionId = status.served?.versionId ?? null;
  const routed = route?.spec.versions.find((one) => one.versionId === versionId);
  const isTrue = (type: string): boolean => status.conditions?.find((one) => one.type === type)?.status === 'True';
  // Rights that changed in the resource are in force once the operator has stored them.
  const isCurrent = (type: string): boolean =>
    status.conditions?.find((one) => one.type === type)?.observedGeneration === agent.metadata.generation;
  return {
    again,
    content: {
      agent_id: status.agentId,
      resource: agent.metadata.name,
      name: safeText(described?.title ?? agent.metadata.name, catalogueLimits.title),
      description: safeText(described?.description ?? '', catalogueLimits.description),
      workspace: spec.workspace,
      owner_issuer: spec.owner.issuer,
      owner_subject: spec.owner.subject,
      // An agent whose manifest or card cannot be read is not shown.
      state: described === undefined && state === 'active' ? 'degraded' : state,
      protocol: described?.protocol ?? 'a2a',
      implementation_type: described?.implementationType ?? 'low-code',
      version_id: versionId,
      // The skills of a card that failed its verification are not verified (`catalogue:record:skills`).
      skills: described === undefined || state === 'rejected' ? [] : described.skills,
      url: publicUrlOf(status.url),
      is_ready: version !== undefined && isAnswering(conditionOf(version, 'Ready')),
      is_consistent: isTrue('AccessConsistent') && isCurrent('AccessConsistent'),
      is_routed: isTrue('RouteAccepted') && routed !== undefined,
      exposure: route?.spec.exposure ?? 'R1',
      is_contested: observed.claims > 1,
    },
  };
}

/**
 * The version that is served; before a version was ever served, the version that the agent names, if it belongs to the
 * agent.
 */
function shownVersion({ agent, version }: ObservedAgent): Stored<AgentVersion> | undefined {
  const { served } = agent.status ?? {};
  if (served === undefined) {
    const named = version(agent.spec.version);
    return named?.spec.agent === agent.metadata.name ? named : undefined;
  }
  const found = version(served.version);
  return found?.metadata.uid === served.versionId ? found : undefined;
}

function stateOf(
  { agent, now, lostSince }: ObservedAgent,
  version: Stored<AgentVersion> | undefined,
): { readonly state: AgentLifecycle; readonly again: Date | undefined } {
  const isWrongCard = version !== undefined && conditionOf(version, 'CardVerified')?.reason === 'CardDiffers';
  if (agent.status?.served === undefined) return { state: isWrongCard ? 'rejected' : 'degraded', again: undefined };
  const ready = version === undefined || isWrongCard ? undefined : conditionOf(version, 'Ready');
  if (version === undefined || ready === undefined) return { state: 'degraded', again: undefined };
  if (isAnswering(ready)) return { state: 'active', again: undefined };
  // The condition of a deleted version is False since the deletion, even while its process is ready.
  const seen = version.metadata.deletionTimestamp === undefined ? undefined : lostSince;
  const lostAt = new Date((seen ?? Date.parse(ready.lastTransitionTime)) + lostMs);
  return lostAt <= now ? { state: 'degraded', again: undefined } : { state: 'active', again: lostAt };
}

/**
 * A deleted version keeps its process and its route while its agent serves it. The condition has this reason while the
 * process is ready.
 */
function isAnswering(ready: Condition | undefined): boolean {
  return ready?.status === 'True' || ready?.reason === 'Routed';
}

function conditionOf({ status }: Stored<AgentVersion>, type: string) {
  return status?.conditions?.find((one) => one.type === type);
}

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The address of the agent at the gateway: https, or on this machine only. */
function publicUrlOf(text: string | undefined): string | null {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return null;
  return url.protocol === 'https:' || loopback.has(url.hostname) ? url.href.replace(/\/$/, '') : null;
}
