import type { AgentBundle } from '#contracts/agent-bundle';
import type { RunBudget } from '#flow/engine/budget';
import type { CallGrant } from '../calls/agent-call.ts';

/**
 * The budget of a run: its time is the smaller of the version's time and the remaining time of the grant. Its amounts
 * are those of the grant, in which the gateway has put the smaller amounts of the version and of the calling run.
 * @param now milliseconds since 1970
 * @returns undefined if the grant has ended
 */
export function limitRun(
  { timeoutMs }: Pick<AgentBundle['limits'], 'timeoutMs'>,
  grant: Pick<CallGrant, 'budget' | 'expiresAt'> | undefined,
  now: number,
): Partial<RunBudget> | undefined {
  if (grant === undefined) return { timeoutMs };
  const leftMs = grant.expiresAt.getTime() - now;
  return leftMs <= 0 ? undefined : { ...grant.budget, timeoutMs: Math.min(timeoutMs, leftMs) };
}
