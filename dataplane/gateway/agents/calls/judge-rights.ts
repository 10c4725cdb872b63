import { type AgentPerson, agentPrincipals } from '#relations/agent-principals';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import type { CallMode } from './parse-call.ts';

/**
 * The right that both the subject and the agent that calls for it have: `invoke`; `view`, if each has at least view or
 * invoke; `none` otherwise.
 */
type AgentRight = 'invoke' | 'view' | 'none';

/**
 * Asks for the rights on an agent, at each request (`agent-gateway:invoke:agent-right`). Every caller without the right
 * invoke costs the same questions, whatever the answers and whether or not the agent exists.
 * @param mode over A2A a caller also belongs to the group of every caller
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
 * Whether the caller owns an agent. A person alone can: an agent that calls for its owner reads no runs of others.
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
