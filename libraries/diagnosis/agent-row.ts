import type { Agent } from '#resources/agent';
import type { Stored } from '#resources/metadata';

/** Waiting: the operator has not processed the current generation yet. */
export type ServedState = 'ready' | 'starting' | 'faulty' | 'waiting' | 'deleting';

export type AgentRow = {
  readonly name: string;
  /** The AgentVersion that every ready gateway replica serves. */
  readonly version?: string;
  /** The version on trial, with the share of callers that it serves. */
  readonly canary?: string;
  /** Previous versions that run on, newest first. */
  readonly previous: readonly string[];
  readonly state: ServedState;
  /** Address for clients. */
  readonly url?: string;
  /** The reason why the agent is not served as declared; absent when it is. */
  readonly why?: string;
};

export function agentRow(resource: Stored<Agent>): AgentRow {
  const { metadata, status = {} } = resource;
  const { served, canary, previous = [], url } = status;
  const why = whyOf(resource);
  return {
    name: metadata.name,
    ...(served === undefined ? {} : { version: served.version }),
    ...(canary === undefined ? {} : { canary: `${canary.version} (${canary.percent} %)` }),
    previous: previous.map(({ version }) => version),
    state: servedState(resource),
    ...(url === undefined ? {} : { url }),
    ...(why === undefined ? {} : { why }),
  };
}

/** Reasons that end without a change of a resource, as soon as a process or a replica is ready. */
export const passingReasons: readonly string[] = ['VersionNotReady', 'CanaryNotReady', 'WaitingForReplicas', 'NoRoute'];

export function servedState({ metadata, status }: Stored<Agent>): ServedState {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.observedGeneration !== metadata.generation) return 'waiting';
  if (ready.status === 'True') return 'ready';
  return passingReasons.includes(ready.reason) ? 'starting' : 'faulty';
}

function whyOf(resource: Stored<Agent>): string | undefined {
  const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready');
  switch (servedState(resource)) {
    case 'ready':
      return undefined;
    case 'waiting':
      return 'the operator has not processed it yet';
    case 'deleting':
      return ready?.reason === 'Draining' ? ready.message : 'the agent is being deleted';
    case 'starting':
    case 'faulty':
      return ready?.message;
  }
}
