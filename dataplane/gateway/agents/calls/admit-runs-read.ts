import { confirmerName } from '#identity/mcp-confirmers';
import { chooseVersion } from '../routes/choose-version.ts';
import { type AdmissionParts, type AdmittedCall, knownCaller, pinned } from './admit-agent-call.ts';
import { AgentRefusal } from './agent-refusal.ts';
import { askRights } from './ask-rights.ts';
import type { AgentCaller, CallOrigin } from './identify-caller.ts';
import { judgeOwner, judgeRights } from './judge-rights.ts';
import { type RoutedCall, runsOperation } from './parse-call.ts';

type AdmittedRead = { readonly admitted: AdmittedCall & { readonly caller: AgentCaller }; readonly call: RoutedCall };

/**
 * Admits a read of runs: the owner of the agent reads all runs, and a caller with the right to invoke reads its own. The returned call has the
 * operation and the path with which the process answers exactly that (docs/decisions/0068). Every caller who is not the
 * owner costs the same questions, whether or not the agent exists.
 * @throws AgentRefusal
 */
export async function admitRunsRead(
  plane: AdmissionParts,
  { agentId, versionId, path }: RoutedCall,
  method: string,
  origin: CallOrigin,
): Promise<AdmittedRead> {
  const caller = await knownCaller(plane, origin, agentId);
  if (method !== 'GET') throw new AgentRefusal('method_not_allowed', { allow: 'GET' });
  if (!plane.table.isComplete) throw new AgentRefusal('agent_unavailable');
  const { isOwner, overA2a, overMcp } = await askRights(() => rightsOf(plane, caller, agentId));
  const found = plane.table.lookup(agentId);
  const spec = found.kind === 'route' ? found.route.spec : undefined;
  if (found.kind === 'unknown' || (!isOwner && overA2a === 'none')) throw new AgentRefusal('not_found');
  if (!isOwner && overA2a === 'view') throw new AgentRefusal('forbidden');
  if (spec === undefined) throw new AgentRefusal('agent_unavailable');
  const version = chooseVersion(spec, versionId, undefined);
  if (version === undefined) throw new AgentRefusal(versionId === undefined ? 'agent_unavailable' : 'not_found');
  const isCallable =
    version.modes.includes('A2A') ||
    (overMcp === 'invoke' && (spec.exposure !== 'R1' || plane.confirmers.has(confirmerName(caller.subject))));
  if (!isOwner && !isCallable) throw new AgentRefusal('not_found');
  const scope = isOwner ? 'all' : 'own';
  const call = {
    agentId,
    versionId,
    operation: { ...runsOperation, name: `runs:${scope}` },
    path: path.replace(/^\/runs/, `/runs/${scope}`),
  };
  return { admitted: pinned(plane, spec, version, caller), call };
}

async function rightsOf({ relations }: AdmissionParts, caller: AgentCaller, agentId: string) {
  const [isOwner, overA2a, overMcp] = await Promise.all([
    judgeOwner(relations, caller, agentId),
    judgeRights(relations, caller, { agentId, mode: 'A2A' }),
    judgeRights(relations, caller, { agentId, mode: 'MCP' }),
  ]);
  return { isOwner, overA2a, overMcp };
}
