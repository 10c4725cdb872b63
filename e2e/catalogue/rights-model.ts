import { agentSubject, userSubject } from '#relations/subject';
import { authenticatedAll, groupObject, membersOfGroup } from '#relations/tenant-object';

type Right = 'view' | 'invoke';

/** A person, or an agent that acts for a person at the request of another agent. */
export type StepCaller = { readonly person: string; readonly isPlanned: boolean };

export type JudgedAgent = { readonly agentId: string; readonly protocol: 'a2a' | 'mcp' };

type Tuple = { readonly subject: string; readonly relation: string; readonly object: string };
/** A relation in the form of the model and of the store. */
type Relation = { readonly fact: string; readonly tuple: Tuple };

const tenant = 'acme';
const issuer = 'https://people.example';
const people = ['ann', 'bob', 'cleo', 'dave'];
/** The agent that calls for a person; the agent that asked it has no rights and needs none. */
const planner = 'planner';
/**
 * Groups whose members are people and other groups, even in cycles; a token names the claimed group, which has no
 * stored members.
 */
const groups = ['one', 'two', 'three'];
const claimed = 'claimed';
const claims: ReadonlySet<string> = new Set(['cleo', 'dave']);
/** The group of every caller over A2A. */
const everyone = 'everyone';
/** The group of all callers belongs to no tenant, so that it is a member of no group. */
const members = [...people, ...groups, claimed, planner];
/**
 * The group of all callers is in the list twice, because only a quarter of its rights are on agents over MCP, where
 * they must not count.
 */
const holders = [...members, everyone, everyone];

export const callers: readonly StepCaller[] = [
  ...people.map((person) => ({ person, isPlanned: false })),
  ...['ann', 'dave'].map((person) => ({ person, isPlanned: true })),
];

/** The rights as sets in memory. @param oneOf selects one of several values */
export function createRightsModel(oneOf: <T>(values: readonly T[]) => T) {
  /** Tuples of the store by their facts `holder relation object`, where a holder is a person, the planner or a group. */
  const facts = new Map<string, Tuple>();

  /** Everything by which a principal may have a right: itself, its groups, and theirs. */
  function holdersOf(principal: string, { protocol }: JudgedAgent): ReadonlySet<string> {
    const own = [principal, ...(claims.has(principal) ? [claimed] : []), ...(protocol === 'a2a' ? [everyone] : [])];
    const found = new Set(own);
    // Iteration over a set includes the members that are added during it.
    for (const holder of found)
      for (const group of groups) if (facts.has(`${holder} member ${group}`)) found.add(group);
    return found;
  }

  return {
    has({ person, isPlanned }: StepCaller, right: Right, agent: JudgedAgent): boolean {
      const principals = isPlanned ? [person, planner] : [person];
      return principals.every((principal) =>
        [...holdersOf(principal, agent)].some((holder) => facts.has(`${holder} ${right} ${agent.agentId}`)),
      );
    },

    /** Any right on the agent, or any membership in a group without an agent. */
    anyRelation(agent: JudgedAgent | undefined): Relation {
      if (agent !== undefined) {
        return relationOf(oneOf(holders), oneOf(['view', 'invoke']), agent.agentId, `agent:${agent.agentId}`);
      }
      const group = oneOf(groups);
      const holder = oneOf(members.filter((one) => one !== group));
      return relationOf(holder, 'member', group, groupObject(tenant, group));
    },

    /** A stored membership or a stored right; undefined if there is none. */
    storedRelation(kind: 'membership' | 'right'): Relation | undefined {
      const stored = [...facts].filter(([, { relation }]) => (relation === 'member') === (kind === 'membership'));
      if (stored.length === 0) return undefined;
      const [fact, tuple] = oneOf(stored);
      return { fact, tuple };
    },

    change(kind: 'grant' | 'revoke', { fact, tuple }: Relation): void {
      if (kind === 'grant') facts.set(fact, tuple);
      else facts.delete(fact);
    },
  };
}

/** Claims of the token of a caller. */
export function claimsOf({ person, isPlanned }: StepCaller): Readonly<Record<string, unknown>> {
  return {
    tenants: [tenant],
    groups: claims.has(person) ? [claimed] : [],
    ...(isPlanned ? { act: { iss: issuer, sub: planner, act: { iss: issuer, sub: 'portal' } } } : {}),
  };
}

/** A caller in a report. */
export function nameOf({ person, isPlanned }: StepCaller): string {
  return isPlanned ? `${person} by ${planner}` : person;
}

function relationOf(holder: string, relation: string, name: string, object: string): Relation {
  return { fact: `${holder} ${relation} ${name}`, tuple: { subject: subjectOf(holder), relation, object } };
}

function subjectOf(holder: string): string {
  if (holder === everyone) return membersOfGroup(authenticatedAll);
  if (holder === planner) return agentSubject({ issuer, subject: planner });
  if (people.includes(holder)) return userSubject({ issuer, subject: holder });
  return membersOfGroup(groupObject(tenant, holder));
}
