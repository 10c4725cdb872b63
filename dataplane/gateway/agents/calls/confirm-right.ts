import type { AgentTable } from '../routes/agent-table.ts';
import type { AdmissionParts, AdmittedCall } from './admit-agent-call.ts';
import { AgentRefusal } from './agent-refusal.ts';
import { askRights } from './ask-rights.ts';
import type { AgentCaller } from './identify-caller.ts';
import { judgeRights } from './judge-rights.ts';
import type { CallMode } from './parse-call.ts';

export type ConfirmParts = Pick<AdmissionParts, 'relations'> & {
  readonly table: Pick<AgentTable, 'lookup' | 'versionOfRun'>;
  /** A run begins at most this time after the right to start it was confirmed, milliseconds. */
  readonly rightsAgeMs: number;
};

/**
 * Checks the right to invoke once more if it was confirmed too long ago: the body of the call may have arrived slowly,
 * and its texts may have waited for their checks. A caller that lost the right meanwhile, or whose agent was removed,
 * gets the same answer as for a new call.
 * @throws AgentRefusal
 */
export async function confirmRight(
  { relations, table, rightsAgeMs }: ConfirmParts,
  { spec, version, caller, askedAt }: Omit<AdmittedCall, 'caller' | 'pin'> & { readonly caller: AgentCaller },
  mode: CallMode,
): Promise<void> {
  if (performance.now() - askedAt < rightsAgeMs) return;
  const { agentId } = spec;
  const right = await askRights(() => judgeRights(relations, caller, { agentId, mode }));
  if (right !== 'invoke') throw new AgentRefusal(right === 'view' ? 'forbidden' : 'not_found');
  if (table.versionOfRun({ agentId, versionId: version.versionId }) !== undefined) return;
  throw new AgentRefusal(table.lookup(agentId).kind === 'unknown' ? 'not_found' : 'agent_unavailable');
}
