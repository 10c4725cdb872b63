import { type AgentProtocol, agentProtocols } from '#contracts/catalogue';
import { agentPrincipals } from '#relations/agent-principals';
import type { Relations } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import type { CatalogueCaller } from './catalogue-caller.ts';
import { commonIds, type IdPart, type IdWindow } from './common-ids.ts';
import { type CatalogueRight, judgeAgents } from './judge-agents.ts';

/** The agents on which a caller has a right at this moment, or a part of them in the order of their ids. */
type ListedReach = {
  readonly kind: 'listed';
  /** The ids of agents on which it has the right if their protocol is A2A: there it belongs to the group of every caller. */
  readonly overA2a: readonly string[];
  /** Those of them on which it has the right over every protocol. */
  readonly own: readonly string[];
  /** The id from which the next part begins; undefined at the end. */
  readonly next: string | undefined;
};

/** More than the store can list from the side of the caller: agents are read and judged in batches instead. */
export const wideReach = { kind: 'wide' } as const;

type AgentReach = ListedReach | typeof wideReach;

type Questions = Pick<Relations, 'nextObjects' | 'checkEach'>;

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const start = 'agent:';
/** Agents of one question about all of them. */
const mostAtOnce = 50_000;

/**
 * Asks the store from the side of the caller, so that the cost depends on what the caller may reach and on nothing that is
 * hidden from it (`catalogue:auth:current-check`).
 * @param window.limit most ids, at least 1
 * @throws RelationsUnavailableError
 */
export async function nextReach(
  relations: Questions,
  caller: CatalogueCaller,
  right: CatalogueRight,
  window: IdWindow,
): Promise<AgentReach> {
  try {
    const [overA2a, own] = await Promise.all([partOf(true), partOf(false)]);
    const isId = (id: string): boolean => idForm.test(id);
    return { kind: 'listed', overA2a: overA2a.ids.filter(isId), own: own.ids.filter(isId), next: overA2a.next };
  } catch (error) {
    if (isTooComplex(error)) return wideReach;
    throw error;
  }

  /** The agents that a caller reaches over every protocol are among those over A2A, so that one limit covers both. */
  function partOf(everyone: boolean): Promise<IdPart> {
    return commonIds(
      agentPrincipals(caller, everyone).map(({ subject, claimed }) => async ({ from, limit }: IdWindow) => {
        const part = { from: `${start}${from}`, limit };
        const objects = await relations.nextObjects(subject, right, 'agent', part, claimed);
        return objects.map((object) => object.slice(start.length));
      }),
      window,
    );
  }
}

/** All agents on which the caller has the right. @throws RelationsUnavailableError */
export async function wholeReach(
  relations: Questions,
  caller: CatalogueCaller,
  right: CatalogueRight,
  signal: AbortSignal,
): Promise<AgentReach> {
  const [overA2a, own]: [string[][], string[][]] = [[], []];
  for (let from: string | undefined = ''; from !== undefined; ) {
    signal.throwIfAborted();
    const part = await nextReach(relations, caller, right, { from, limit: mostAtOnce });
    if (part.kind === 'wide') return part;
    overA2a.push([...part.overA2a]);
    own.push([...part.own]);
    from = part.next;
  }
  return { kind: 'listed', overA2a: overA2a.flat(), own: own.flat(), next: undefined };
}

/**
 * The protocols over which the caller has the right on an agent of this id, whether there is one or not: none for a hidden
 * agent and for a missing one.
 * @throws RelationsUnavailableError
 */
export async function allowedProtocols(
  relations: Questions,
  caller: CatalogueCaller,
  right: CatalogueRight,
  agentId: string,
): Promise<readonly AgentProtocol[]> {
  const object = `${start}${agentId}`;
  try {
    const reached = await Promise.all(agentProtocols.map(isReached));
    return agentProtocols.filter((_protocol, at) => reached[at]);
  } catch (error) {
    if (!isTooComplex(error)) throw error;
    const agents = agentProtocols.map((protocol) => ({ agent_id: agentId, protocol }));
    const allowed = await judgeAgents(relations, caller, right, agents);
    return agentProtocols.filter((_protocol, at) => allowed[at]);
  }

  async function isReached(protocol: AgentProtocol): Promise<boolean> {
    const lists = await Promise.all(
      agentPrincipals(caller, protocol === 'a2a').map(({ subject, claimed }) =>
        relations.nextObjects(subject, right, 'agent', { from: object, to: object, limit: 1 }, claimed),
      ),
    );
    return lists.every(([first]) => first === object);
  }
}

function isTooComplex(error: unknown): boolean {
  return error instanceof RelationsModelError && error.code === 'too_complex';
}
