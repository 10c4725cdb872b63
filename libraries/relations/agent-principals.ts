import { agentSubject, userSubject } from './subject.ts';
import { authenticatedAll, groupObject } from './tenant-object.ts';

/** A caller of agents: a person, and the agents that act for the person, the direct caller first. */
export type AgentPerson = {
  readonly subject: { readonly issuer: string; readonly subject: string };
  readonly actors: readonly { readonly issuer: string; readonly subject: string }[];
  readonly tenant: string | undefined;
  /** Groups of the tenant that the issuer of the person named. */
  readonly groups: readonly string[];
};

/** A subject of the store of relations with the groups that it claims. */
type Principal = { readonly subject: string; readonly claimed: readonly string[] };

/**
 * The subjects that must all have a right on an agent: the person, and the agent that calls for it.
 * @param everyone whether the call belongs to the group of all callers: true over A2A, false over MCP
 * @throws RelationsModelError for a name that is too long for a store
 */
export function agentPrincipals(
  { subject, actors, tenant, groups }: AgentPerson,
  everyone: boolean,
): readonly Principal[] {
  const all = everyone ? [authenticatedAll] : [];
  const own = tenant === undefined ? [] : groups.map((name) => groupObject(tenant, name));
  return [
    { subject: userSubject(subject), claimed: [...own, ...all] },
    ...actors.slice(0, 1).map((actor) => ({ subject: agentSubject(actor), claimed: all })),
  ];
}
