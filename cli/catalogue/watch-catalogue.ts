import type { AgentRecord } from '#contracts/catalogue';
import { wait } from '#kit/time/wait';
import { ServiceApiError, ServiceUnreachableError } from '../http/service-error.ts';

type WatchedAgents = {
  readonly look: () => Promise<readonly AgentRecord[]>;
  readonly show: (line: string) => void;
  /** Called when a query has failed; the watch continues with the next query. */
  readonly onBroken: (error: unknown) => void;
  readonly everyMs: number;
  /** Number of looks. */
  readonly times: number;
  readonly signal: AbortSignal;
};

/**
 * Shows every agent, then one line for each change, until the signal is aborted.
 * @throws the error of the first request, and a later error that a retry cannot repair
 */
export async function watchCatalogue(watched: WatchedAgents): Promise<void> {
  const { look, show, onBroken, everyMs, times, signal } = watched;
  let known: ReadonlyMap<string, AgentRecord> = new Map();
  for (let at = 1; !signal.aborted; at += 1) {
    try {
      const now = new Map((await look()).map((agent) => [agent.agentId, agent]));
      for (const line of changedLines(known, now)) show(line);
      known = now;
    } catch (error) {
      if (at === 1 || !isPassing(error)) throw error;
      onBroken(error);
    }
    if (at >= times) return;
    await wait(everyMs, signal);
  }
}

/** Whether a later query may succeed: the service is unavailable or busy, or the key of its cursors has changed. */
function isPassing(error: unknown): boolean {
  if (error instanceof ServiceUnreachableError) return true;
  if (!(error instanceof ServiceApiError)) return false;
  return error.status >= 500 || error.status === 429 || error.code === 'cursor_invalid';
}

/** One line for each agent that appeared, changed or disappeared. */
export function changedLines(
  before: ReadonlyMap<string, AgentRecord>,
  now: ReadonlyMap<string, AgentRecord>,
): readonly string[] {
  const gone = [...before.values()].filter(({ agentId }) => !now.has(agentId));
  const come = [...now.values()].filter(({ agentId }) => !before.has(agentId));
  const other = [...now.values()].filter((agent) => {
    const former = before.get(agent.agentId);
    return former !== undefined && JSON.stringify(former) !== JSON.stringify(agent);
  });
  return [
    ...gone.map(({ agentId, name }) => `- ${agentId} ${name}`),
    ...come.map(({ agentId, name }) => `+ ${agentId} ${name}`),
    ...other.map(({ agentId, name }) => `~ ${agentId} ${name}`),
  ];
}
