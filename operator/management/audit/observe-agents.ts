import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { agentState, changesOfAgent, changesOfAgentDeletion } from './agent-changes.ts';
import { type ObservingTools, startObservingStates } from './observe-states.ts';
import type { ObservedAgent, ObservedStates } from './ports.ts';

/** Records changes of the versions that an Agent serves, of the rights on it, and its deletion. */
export function startObservingAgents(
  options: ObservingTools & {
    readonly client: Pick<KubeClient, 'list' | 'namespace'>;
    readonly caches: Pick<ManagementCaches, 'agents' | 'onAgentChange' | 'synced'>;
    readonly states: ObservedStates<ObservedAgent>;
  },
): AsyncDisposable {
  const { client, caches, ...others } = options;
  const idOf = (name: string): string => agentIdOf(client.namespace, name);
  return startObservingStates<Agent, ObservedAgent>({
    ...others,
    client,
    kind: kinds.agent,
    cache: caches.agents,
    synced: caches.synced,
    onChange: caches.onAgentChange,
    stateOf: agentState,
    changesOf: (agent, before, now) => changesOfAgent(agent, before, { agentId: idOf(agent.metadata.name), now }),
    changesOfDeletion: (name, before, now) => changesOfAgentDeletion(before, { agentId: idOf(name), now }),
  });
}
