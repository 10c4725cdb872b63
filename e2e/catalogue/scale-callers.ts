import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';

const shareCallers = ['share-0.001', 'share-0.005', 'share-0.01'] as const;

/**
 * The callers: three with direct relations, one with relations of 1,000 groups, and one in a group that may use every
 * agent.
 */
export type ScaleCaller = (typeof shareCallers)[number] | 'grouped' | 'all';

/** Number of groups through which a caller has as many agents as `share-0.01`, but different agents. */
const teams = 1_000;
const staff = 'group:acme/staff';
/** Number of relations in one call. */
const atOnce = 100;

/** The agents that a caller may view and invoke, among the first `count` agents. */
export function visibleTo<T>(caller: ScaleCaller, agents: readonly T[], count: number): readonly T[] {
  if (caller === 'all') return agents;
  if (caller === 'grouped') return agents.slice(count / 100, (2 * count) / 100);
  return agents.slice(0, Math.round(count * Number(caller.slice('share-'.length))));
}

/** Gives a caller both rights on agents. */
export async function giveRights(
  { relations }: CatalogueWorld,
  caller: ScaleCaller,
  agents: readonly { readonly id: string }[],
): Promise<void> {
  const subject = `user:https%3A//people.example|${caller}`;
  const holderOf = (at: number): string => {
    if (caller === 'all') return staff;
    return caller === 'grouped' ? `group:acme/team-${at % teams}` : subject;
  };
  const tuples = new Map<string, { subject: string; relation: string; object: string }>();
  const add = (one: { subject: string; relation: string; object: string }) =>
    tuples.set(Object.values(one).join(), one);
  for (const [at, { id }] of agents.entries()) {
    const holder = holderOf(at);
    if (holder !== subject) add({ subject, relation: 'member', object: holder });
    for (const relation of ['view', 'invoke']) {
      add({ subject: holder === subject ? subject : `${holder}#member`, relation, object: `agent:${id}` });
    }
  }
  const all = [...tuples.values()];
  for (let from = 0; from < all.length; from += atOnce) await relations.grant(all.slice(from, from + atOnce));
}
