import type { Relations } from '#relations/ports';
import { agentSubject, userSubject } from '#relations/subject';
import { authenticatedAll, groupObject } from '#relations/tenant-object';
import type { AgentCaller } from './identify-caller.ts';
import type { CallMode } from './parse-call.ts';

/**
 * The right that both the subject and the agent that calls for it have: `invoke`; `view`, if each has at least view or
 * invoke;
 * `none` otherwise.
 */
export type AgentRight = 'invoke' | 'view' | 'none';

/**
 * Asks for the rights on an agent, at each request (`agent-gateway:invoke:agent-right`). Every caller without the right
 * invoke costs the same questions, whatever the answers and whether or not the agent exists.
 * @param mode over A2A a caller also belongs to the group of every caller
 * @throws RelationsUnavailableError
 */
export async function judgeRights(
  relations: Pick<Relations, 'check'>,
  { subject, actors, tenant, groups }: Pick<AgentCaller, 'subject' | 'actors' | 'tenant' | 'groups'>,
  { agentId, mode }: { readonly agentId: string; readonly mode: CallMode },
): Promise<AgentRight> {
  const object = `agent:${agentId}`;
  const everyone = mode === 'A2A' ? [authenticatedAll] : [];
  const claimed = tenant === undefined ? [] : groups.map((name) => groupObject(tenant, name));
  const principals: readonly (readonly [string, readonly string[]])[] = [
    [userSubject(subject), [...claimed, ...everyone]],
    ...actors.slice(0, 1).map((actor) => [agentSubject(actor), everyone] as const),
  ];
  const ask = (relation: 'invoke' | 'view'): Promise<boolean[]> =>
    Promise.all(principals.map(([principal, groupsOf]) => relations.check(principal, relation, object, groupsOf)));
  const mayInvoke = await ask('invoke');
  if (mayInvoke.every(Boolean)) return 'invoke';
  const mayView = await ask('view');
  return mayInvoke.every((may, at) => may || mayView[at] === true) ? 'view' : 'none';
}
