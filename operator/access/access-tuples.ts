import { RelationsModelError } from '#relations/relations-error';
import { agentSubject, userSubject } from '#relations/subject';
import { authenticatedAll, groupObject, membersOfGroup } from '#relations/tenant-object';
import type { Tuple } from '#relations/tuple';
import type { AccessHolder, Agent } from '#resources/agent';

type AccessPlace = {
  readonly agentId: string;
  /** Issuer of the tokens that the gateways sign for agents. */
  readonly issuer: string;
  /** The id of another agent of this installation. */
  readonly agentIdOf: (agent: string) => string;
};

/**
 * The tuples of an agent that its resource declares, without duplicates; undefined for names that are too long for a
 * store of relations (docs/design/agent-routes.md).
 */
export function accessTuples(
  { owner, access }: Pick<Agent['spec'], 'owner' | 'access'>,
  place: AccessPlace,
): readonly Tuple[] | undefined {
  const object = agentObject(place.agentId);
  try {
    const tuples: readonly Tuple[] = [
      { object, relation: 'owner', subject: userSubject(owner) },
      ...access.view.map((holder) => ({ object, relation: 'view', subject: accessSubject(holder, place) })),
      ...access.invoke.map((holder) => ({ object, relation: 'invoke', subject: accessSubject(holder, place) })),
    ];
    return [...new Map(tuples.map((tuple) => [`${tuple.relation} ${tuple.subject}`, tuple])).values()];
  } catch (error) {
    if (error instanceof RelationsModelError) return undefined;
    throw error;
  }
}

/** The object of the rights on an agent. */
export function agentObject(agentId: string): string {
  return `agent:${agentId}`;
}

function accessSubject(holder: AccessHolder, { issuer, agentIdOf }: AccessPlace): string {
  switch (holder.kind) {
    case 'User':
      return userSubject(holder);
    case 'Service':
      return agentSubject(holder);
    case 'Agent':
      return agentSubject({ issuer, subject: agentIdOf(holder.agent) });
    case 'Group':
      return membersOfGroup(groupObject(holder.tenant, holder.group));
    case 'AuthenticatedAll':
      return membersOfGroup(authenticatedAll);
  }
}
