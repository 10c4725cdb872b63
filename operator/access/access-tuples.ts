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

type DeclaredRights = {
  readonly tuples: readonly Tuple[];
  /** False if a name is too long for a store of relations, so that its tuple is missing. */
  readonly isComplete: boolean;
};

/** The tuples of an agent that its resource declares, without duplicates (docs/design/agent-routes.md). */
export function accessTuples(
  { owner, access }: Pick<Agent['spec'], 'owner' | 'access'>,
  place: AccessPlace,
): DeclaredRights {
  const object = agentObject(place.agentId);
  const declared: readonly (Tuple | undefined)[] = [
    tupleOf(object, 'owner', () => userSubject(owner)),
    ...access.view.map((holder) => tupleOf(object, 'view', () => accessSubject(holder, place))),
    ...access.invoke.map((holder) => tupleOf(object, 'invoke', () => accessSubject(holder, place))),
  ];
  const tuples = declared.filter((tuple) => tuple !== undefined);
  const distinct = new Map(tuples.map((tuple) => [`${tuple.relation} ${tuple.subject}`, tuple]));
  return { tuples: [...distinct.values()], isComplete: tuples.length === declared.length };
}

/** A tuple; undefined for a name that is too long for a store of relations. */
function tupleOf(object: string, relation: string, subjectOf: () => string): Tuple | undefined {
  try {
    return { object, relation, subject: subjectOf() };
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
