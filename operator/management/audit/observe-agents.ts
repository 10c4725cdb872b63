import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { Agent } from '#resources/agent';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { SqlStatementError, SqlUnavailableError } from '#sql/connect';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { agentState, changesOfAgent, changesOfAgentDeletion } from './agent-changes.ts';
import type { AgentStates, KnownAgent } from './ports.ts';
import { repeatLook } from './repeat-look.ts';

/** States that wait for the database; of further ones only the newest of each agent is recorded. */
const mostWaiting = 1_000;

/**
 * Records changes of the versions that an Agent serves, of the rights on it, and its deletion. Every replica observes
 * them, and each is recorded once; after a time without a replica, the changes of that time are recorded as one.
 */
export function startObservingAgents(options: {
  readonly client: Pick<KubeClient, 'list' | 'namespace'>;
  readonly caches: Pick<ManagementCaches, 'agents' | 'onAgentChange' | 'synced'>;
  readonly states: AgentStates;
  readonly clock: Clock;
  readonly logger: Logger;
}): AsyncDisposable {
  const { client, caches, states, clock, logger } = options;
  let known: Map<string, KnownAgent> | undefined;
  /** The newest known object of each name, by its UID. */
  const newest = new Map<string, string>();
  let waiting: readonly Stored<Agent>[] = [];

  caches.onAgentChange((agent) => {
    waiting = [...waiting, agent].slice(-mostWaiting);
  });

  async function look(signal: AbortSignal): Promise<void> {
    if (known === undefined) {
      known = new Map((await states.known()).map((agent) => [agent.uid, agent]));
      for (const { name, uid } of known.values()) newest.set(name, uid);
    }
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (signal.aborted) return;
      await advance(known, next, signal);
      const done = next;
      waiting = waiting.filter((one) => one !== done);
    }
    for (const agent of caches.agents.list()) {
      if (signal.aborted) return;
      await advance(known, agent, signal);
    }
    await endDeleted(known, signal);
  }

  async function advance(recorded: Map<string, KnownAgent>, agent: Stored<Agent>, signal: AbortSignal): Promise<void> {
    const { uid, name, generation } = agent.metadata;
    if ((recorded.get(uid)?.generation ?? 0) >= generation) return;
    // Both objects have the same id, so that the log would end with the deletion of the earlier one.
    if ((newest.get(name) ?? uid) !== uid) {
      await endDeleted(recorded, signal);
      if (signal.aborted) return;
    }
    const observed = { uid, name, generation };
    await written(() =>
      states.advance({ ...observed, state: agentState(agent) }, (before) =>
        changesOfAgent(agent, before, { agentId: agentIdOf(client.namespace, name), now: clock.date() }),
      ),
    );
    recorded.set(uid, observed);
    newest.set(name, uid);
  }

  /** A cache may be behind the server, so that the server decides whether an agent was deleted. */
  async function endDeleted(recorded: Map<string, KnownAgent>, signal: AbortSignal): Promise<void> {
    const cached = new Set(caches.agents.list().map(({ metadata }) => metadata.uid));
    const absent = [...recorded.values()].filter(({ uid }) => !cached.has(uid));
    if (absent.length === 0) return;
    const { items } = await listAll<Agent>(client, kinds.agent);
    const living = new Set(items.map(({ metadata }) => metadata.uid));
    for (const { uid, name } of absent) {
      if (signal.aborted) return;
      if (living.has(uid)) continue;
      const about = { agentId: agentIdOf(client.namespace, name), now: clock.date() };
      await written(() => states.end(uid, (before) => changesOfAgentDeletion(before, about)));
      recorded.delete(uid);
      if (newest.get(name) === uid) newest.delete(name);
    }
  }

  /** One change that has no valid form must not hold up those after it. */
  async function written(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (error instanceof SqlUnavailableError || error instanceof SqlStatementError) throw error;
      logger.error('change_not_recorded', { failure: describeFailure(error) });
    }
  }

  return repeatLook(look, { synced: caches.synced, logger });
}
