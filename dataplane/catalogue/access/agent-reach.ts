import { type AgentProtocol, agentProtocols } from '#contracts/catalogue';
import { agentPrincipals } from '#relations/agent-principals';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import type { CatalogueCaller } from './catalogue-caller.ts';

type CatalogueRight = 'view' | 'invoke';

/** An agent with the protocol that decides whether the group of every caller counts. */
type JudgedAgent = { readonly agent_id: string; readonly protocol: AgentProtocol };

/**
 * The agents on which a caller has a right at this moment: their ids, or `wide` for more than the store lists at once.
 * `overA2a` are those on which it has the right if their protocol is A2A, because then it belongs to the group of every
 * caller.
 */
export type AgentReach =
  | { readonly kind: 'listed'; readonly own: readonly string[]; readonly overA2a: readonly string[] }
  | { readonly kind: 'wide' };

type Questions = Pick<Relations, 'check' | 'objectsOf'>;

const objectForm = /^agent:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Asks the store from the side of the caller, so that the cost depends on what the caller may reach and on nothing that is
 * hidden from it (`catalogue:auth:current-check`).
 * @throws RelationsUnavailableError
 */
export async function reachOf(
  relations: Questions,
  caller: CatalogueCaller,
  right: CatalogueRight,
): Promise<AgentReach> {
  try {
    const [own, overA2a] = await Promise.all([idsOf(false), idsOf(true)]);
    return { kind: 'listed', own, overA2a };
  } catch (error) {
    if (error instanceof RelationsModelError && error.code === 'too_complex') return { kind: 'wide' };
    throw error;
  }

  async function idsOf(everyone: boolean): Promise<readonly string[]> {
    const lists = await Promise.all(
      agentPrincipals(caller, everyone).map(({ subject, claimed }) =>
        relations.objectsOf(subject, right, 'agent', claimed),
      ),
    );
    const [first = [], ...others] = lists.map((objects) => objects.flatMap((one) => objectForm.exec(one)?.[1] ?? []));
    return others.reduce((ids, other) => {
      const also = new Set(other);
      return ids.filter((id) => also.has(id));
    }, first);
  }
}

/**
 * The protocols over which the caller has the right on an agent of this id, whether there is one or not: none for a hidden
 * agent and for a missing one.
 * @throws RelationsUnavailableError
 */
export async function allowedProtocols(
  relations: Questions,
  caller: CatalogueCaller,
  { right, agentId }: { readonly right: CatalogueRight; readonly agentId: string },
): Promise<readonly AgentProtocol[]> {
  const reach = await reachOf(relations, caller, right);
  const agents = agentProtocols.map((protocol) => ({ agent_id: agentId, protocol }));
  const allowed = await judgeAgents(relations, caller, { right, reach, agents });
  return agentProtocols.filter((_protocol, at) => allowed[at]);
}

/** Whether the caller has the right on each agent. @throws RelationsUnavailableError */
export async function judgeAgents(
  relations: Questions,
  caller: CatalogueCaller,
  {
    right,
    reach,
    agents,
  }: { readonly right: CatalogueRight; readonly reach: AgentReach; readonly agents: readonly JudgedAgent[] },
): Promise<readonly boolean[]> {
  if (reach.kind === 'listed') {
    const [own, overA2a] = [new Set(reach.own), new Set(reach.overA2a)];
    return agents.map(({ agent_id: id, protocol }) => own.has(id) || (protocol === 'a2a' && overA2a.has(id)));
  }
  return await Promise.all(agents.map(isAllowed));

  async function isAllowed({ agent_id: id, protocol }: JudgedAgent): Promise<boolean> {
    try {
      const answers = await Promise.all(
        agentPrincipals(caller, protocol === 'a2a').map(({ subject, claimed }) =>
          relations.check(subject, right, `agent:${id}`, claimed),
        ),
      );
      return answers.every(Boolean);
    } catch (error) {
      // More groups than the store can follow: the right is not known, so that nothing may be shown.
      if (error instanceof RelationsModelError) throw new RelationsUnavailableError(error);
      throw error;
    }
  }
}
