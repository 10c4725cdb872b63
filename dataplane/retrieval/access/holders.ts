import type { Holder } from '#contracts/retrieval-grants';
import type { Subject } from '#identity/identity';
import type { TenantCaller } from '#identity/tenant-caller';
import { agentSubject, readAgentSubject, readUserSubject, userSubject } from '#relations/subject';
import { groupObject, membersOfGroup, readGroupObject } from '#relations/tenant-object';
import { readPrincipal } from './document-labels.ts';

/**
 * The subject of relations that a body names; a name without an issuer belongs to the issuer of the caller's user.
 * @throws RelationsModelError for a name that is too long for a store
 */
export function subjectOfHolder({ user_id, agent_id, group }: Holder, caller: TenantCaller): string {
  if (user_id !== undefined) return userSubject(readPrincipal(user_id, caller));
  if (agent_id !== undefined) return agentSubject(readPrincipal(agent_id, caller));
  if (group !== undefined) return membersOfGroup(groupObject(caller.tenant, group));
  throw new TypeError('a holder names a user, an agent or a group');
}

/** The holder in the form of a body; undefined for a subject that is not a holder, such as a parent. */
export function holderOfSubject(subject: string, caller: TenantCaller): Holder | undefined {
  const user = readUserSubject(subject);
  if (user !== undefined) return { user_id: nameOf(user, caller) };
  const agent = readAgentSubject(subject);
  if (agent !== undefined) return { agent_id: nameOf(agent, caller) };
  if (!subject.endsWith('#member')) return undefined;
  const group = readGroupObject(caller.tenant, subject.slice(0, -'#member'.length));
  return group === undefined ? undefined : { group };
}

/** The name includes the issuer unless the bare name is read back as the same subject. */
function nameOf(named: Subject, caller: TenantCaller): string {
  const bare = readPrincipal(named.subject, caller);
  const isSame = bare.issuer === named.issuer && bare.subject === named.subject;
  return isSame ? named.subject : `${named.issuer}|${named.subject}`;
}
