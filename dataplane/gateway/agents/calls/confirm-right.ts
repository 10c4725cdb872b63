import type { AdmissionParts, AdmittedCall } from './admit-agent-call.ts';
import { AgentRefusal } from './agent-refusal.ts';
import { askRights } from './ask-rights.ts';
import type { AgentCaller } from './identify-caller.ts';
import { judgeRights } from './judge-rights.ts';
import type { CallMode } from './parse-call.ts';

export type RightsAge = {
  /** A run begins at most this time after the right to start it was confirmed, milliseconds. */
  readonly rightsAgeMs: number;
};

/**
 * Asks for the right to invoke once more if it was confirmed too long ago: the body of the call may have arrived slowly, and its texts
 * may have waited for their checks. A caller that lost the right meanwhile gets the answer of a call that begins now.
 * @throws AgentRefusal
 */
export async function confirmRight(
  { relations, rightsAgeMs }: Pick<AdmissionParts, 'relations'> & RightsAge,
  { spec, caller, askedAt }: Pick<AdmittedCall, 'spec' | 'askedAt'> & { readonly caller: AgentCaller },
  mode: CallMode,
): Promise<void> {
  if (performance.now() - askedAt < rightsAgeMs) return;
  const right = await askRights(() => judgeRights(relations, caller, { agentId: spec.agentId, mode }));
  if (right !== 'invoke') throw new AgentRefusal(right === 'view' ? 'forbidden' : 'not_found');
}
