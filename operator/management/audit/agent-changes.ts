import { type AuditAuthor, type AuditContent, type AuditServing, auditNamedHolders } from '#contracts/audit';
import { digestOf } from '#contracts/canonical';
import { changeNote } from '#kube/client/change-author';
import type { AccessHolder, Agent } from '#resources/agent';
import { noteOfGeneration } from '#resources/change-note';
import type { Stored } from '#resources/metadata';
import { postgresText } from '#sql/postgres-text';
import type { ObservedAgent, RecordedState } from './ports.ts';

type Observed = {
  /** The id of the agent. */
  readonly agentId: string;
  readonly now: Date;
};

/** The state of an Agent whose changes are recorded. */
export function agentState({ spec }: Pick<Agent, 'spec'>): ObservedAgent {
  const { version, canary, owner, access, cards } = spec;
  const rights = [
    `owner ${holderText({ kind: 'User', ...owner })}`,
    ...access.view.map((holder) => `view ${holderText(holder)}`),
    ...access.invoke.map((holder) => `invoke ${holderText(holder)}`),
    ...(cards === 'Public' ? ['cards Public'] : []),
  ];
  return {
    serving: { version, canary: canary === undefined ? null : { version: canary.version, percent: canary.percent } },
    // The rights in the form in which they are stored, because the next state is compared with the stored state.
    rights: [...new Set(rights.map(postgresText))].sort(),
  };
}

function holderText(holder: AccessHolder): string {
  switch (holder.kind) {
    case 'User':
    case 'Service':
      return `${holder.kind} ${pairText(holder.issuer, '|', holder.subject)}`;
    case 'Group':
      return `Group ${pairText(holder.tenant, '/', holder.group)}`;
    case 'Agent':
      return `Agent ${holder.agent}`;
    case 'AuthenticatedAll':
      return 'AuthenticatedAll';
  }
}

/** A separator within a name follows a backslash, so that two pairs never have the same text. */
function pairText(first: string, separator: '|' | '/', second: string): string {
  const escaped = (name: string): string => name.replaceAll('\\', '\\\\').replaceAll(separator, `\\${separator}`);
  return `${escaped(first)}${separator}${escaped(second)}`;
}

/**
 * The entries of a new state of an Agent: one if another version serves its callers, and one if rights on it have
 * changed.
 */
export function changesOfAgent(
  agent: Stored<Agent>,
  before: RecordedState<ObservedAgent>,
  { agentId, now }: Observed,
): readonly AuditContent[] {
  const after = agentState(agent);
  const author = authorOf(agent, before, now);
  const serving = servingChange(before.state, after);
  const access = accessChange(before.state, after);
  const entry = { ...base, time: now.toISOString(), author, target: { type: 'agent', id: agentId } } as const;
  return [
    ...(isSame(serving.before, serving.after) ? [] : [{ ...entry, action: 'agent.serve', serving } as const]),
    ...(access.granted.length + access.revoked.length === 0
      ? []
      : [{ ...entry, action: 'agent.access', access } as const]),
  ];
}

/** The entry of an Agent that no longer exists. Kubernetes keeps no author of a deletion. */
export function changesOfAgentDeletion(
  { state }: RecordedState<ObservedAgent>,
  { agentId, now }: Observed,
): readonly AuditContent[] {
  const change = {
    serving: servingChange(state, undefined),
    access: accessChange(state, undefined),
  };
  const author = { kind: 'unknown' } as const;
  const target = { type: 'agent', id: agentId } as const;
  return [{ ...base, time: now.toISOString(), action: 'agent.delete', author, target, ...change }];
}

const base = {
  outcome: 'observed',
  code: null,
  client: 'none',
  traceId: null,
  operationId: null,
  before: null,
  after: null,
  count: 1,
  since: null,
} as const;

/** Milliseconds. If an Agent is older than this when it is first seen, it does not count as newly created. */
const newForMs = 60_000;

/**
 * The author of the newest change of the spec made this change only if no generation between the two was missed.
 */
function authorOf(agent: Stored<Agent>, before: RecordedState<ObservedAgent>, now: Date): AuditAuthor {
  const { metadata } = agent;
  const { author } = changeNote(metadata, noteOfGeneration(agent));
  const isNext = metadata.generation === before.generation + 1;
  const isTimely = before.state !== undefined || now.getTime() - Date.parse(metadata.creationTimestamp) <= newForMs;
  return author === undefined || !isNext || !isTimely ? { kind: 'unknown' } : { kind: 'claimed', name: author };
}

function servingChange(before: ObservedAgent | undefined, after: ObservedAgent | undefined) {
  return { before: before?.serving ?? null, after: after?.serving ?? null };
}

function isSame(one: AuditServing | null, other: AuditServing | null): boolean {
  return digestOf(one) === digestOf(other);
}

function accessChange(before: ObservedAgent | undefined, after: ObservedAgent | undefined) {
  const [old, current] = [before?.rights ?? [], after?.rights ?? []];
  const without = (rights: readonly string[], others: readonly string[]): string[] => {
    const known = new Set(others);
    return rights.filter((right) => !known.has(right));
  };
  const [granted, revoked] = [without(current, old), without(old, current)];
  return {
    before: accessOf(before),
    after: accessOf(after),
    granted: granted.slice(0, auditNamedHolders),
    revoked: revoked.slice(0, auditNamedHolders),
    grantedCount: granted.length,
    revokedCount: revoked.length,
  };
}

function accessOf(state: ObservedAgent | undefined) {
  return state === undefined ? null : { count: state.rights.length, digest: digestOf(state.rights) };
}
