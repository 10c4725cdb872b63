import { type AgentPerson, agentPrincipals } from '#relations/agent-principals';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import type { CallMode } from './parse-call.ts';

/**
 * The right that both the subject and the agent that calls for it have: `invoke`; `view`, if both have view or invoke;
 * `none` otherwise.
 */
type AgentRight = 'invoke' | 'view' | 'none';

/**
 * Checks the rights on an agent, at each request (`agent-gateway:invoke:agent-right`). For every caller without the
 * right invoke the same questions are asked, whatever the answers and whether or not the agent exists.
 * @param mode over A2A a caller is also a member of the group of all callers
 * @throws RelationsUnavailableError
 */
export async function judgeRights(
  relations: Pick<Relations, 'checkerOf'>,
  caller: AgentPerson,
  { agentId, mode }: { readonly agentId: string; readonly mode: CallMode },
): Promise<AgentRight> {
  const object = `agent:${agentId}`;
  const principals = agentPrincipals(caller, mode === 'A2A');
  const checkers = principals.map(({ subject, claimed }) => relations.checkerOf(subject, claimed));
  const ask = (relation: 'invoke' | 'view'): Promise<boolean[]> =>
    Promise.all(checkers.map((check) => check(relation, object)));
  const mayInvoke = await ask('invoke');
  if (mayInvoke.every(Boolean)) return 'invoke';
  const mayView = await ask('view');
  return mayInvoke.every((may, at) => may || mayView[at] === true) ? 'view' : 'none';
}

/**
 * Whether the caller owns an agent. Only a person can be an owner: an agent that calls for its owner may not read runs
 * of other callers.
 * @throws RelationsUnavailableError
 */
export async function judgeOwner(
  relations: Pick<Relations, 'check'>,
  { subject, actors }: Pick<AgentPerson, 'subject' | 'actors'>,
  agentId: string,
): Promise<boolean> {
  const isOwner = await relations.check(userSubject(subject), 'owner', `agent:${agentId}`);
  return isOwner && actors.length === 0;
}
