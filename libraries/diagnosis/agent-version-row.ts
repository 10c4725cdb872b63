import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';

/** Waiting: the operator has not looked at the current generation yet. */
export type AgentVersionState = 'ready' | 'starting' | 'faulty' | 'waiting' | 'deleting';

export type AgentVersionRow = {
  readonly name: string;
  /** The agent to which the version belongs. */
  readonly agent: string;
  readonly state: AgentVersionState;
  /** Whether texts of callers, or texts of the agent, are not checked by a policy. */
  readonly unguarded: boolean;
  /** The reason why the version is not ready, or not yet deleted; absent when it is ready. */
  readonly why?: string;
};

export function agentVersionRow(resource: Stored<AgentVersion>): AgentVersionRow {
  const { metadata, spec } = resource;
  const why = whyOf(resource);
  return {
    name: metadata.name,
    agent: spec.agent,
    state: agentVersionState(resource),
    unguarded: spec.guardrails.input.mode === 'None' || spec.guardrails.output.mode === 'None',
    ...(why === undefined ? {} : { why }),
  };
}

export function agentVersionState({ metadata, status }: Stored<AgentVersion>): AgentVersionState {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.observedGeneration !== metadata.generation) return 'waiting';
  if (ready.status === 'True') return 'ready';
  return ready.reason === 'Starting' ? 'starting' : 'faulty';
}

function whyOf(resource: Stored<AgentVersion>): string | undefined {
  const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready');
  switch (agentVersionState(resource)) {
    case 'ready':
      return undefined;
    case 'waiting':
      return 'the operator has not processed it yet';
    case 'deleting':
      return ready?.reason === 'Draining' ? ready.message : 'the version is being deleted';
    case 'starting':
    case 'faulty':
      return ready?.message;
  }
}
