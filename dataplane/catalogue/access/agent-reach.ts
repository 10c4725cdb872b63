import { type AgentProtocol, agentProtocols } from '#contracts/catalogue';
import { agentPrincipals } from '#relations/agent-principals';
import type { Relations } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { authenticatedAll, membersOfGroup } from '#relations/tenant-object';
import type { CatalogueCaller } from './catalogue-caller.ts';
import { commonIds, type IdList, type IdWindow } from './common-ids.ts';
import { type CatalogueRight, judgeAgents } from './judge-agents.ts';

/** The agents on which a caller has a right at this moment, or a part of them: their ids in order. */
type ListedReach = {
  readonly kind: 'listed';
  /** Agents on which the person and the agent that acts for it have the right, over every protocol. */
  readonly own: readonly string[];
  /** Agents on which every caller has the right, if their protocol is A2A. */
  readonly everyone: readonly string[];
  /** The id at which the next part begins; undefined after the last part. */
  readonly next: string | undefined;
};

/** The caller reaches more agents than the store can list: agents are read and judged in batches instead. */
export const wideReach = { kind: 'wide' } as const;

type AgentReach = ListedReach | typeof wideReach;

type Questions = Pick<Relations, 'nextObjects' | 'checkEach'>;
type Rights = { readonly relations: Questions; readonly caller: CatalogueCaller; readonly right: CatalogueRight };

const start = 'agent:';
/** Maximum number of agents in one question about all agents. */
const mostAtOnce = 50_000;

/**
 * Queries the store from the side of the caller, so that the cost depends on the objects that the caller may reach and
 * not on objects that are hidden from the caller (`catalogue:auth:current-check`).
 * @param window.limit maximum number of ids of each kind, at least 1
 * @throws RelationsUnavailableError, and the reason of the signal
 */
export async function nextReach(rights: Rights, window: IdWindow, signal: AbortSignal): Promise<AgentReach> {
  return await unlessTooComplex(async () => {
    const parts = await Promise.all(listsOf(rights, signal).map((lists) => commonIds(lists, window)));
    const next = parts.flatMap((part) => part.next ?? []).toSorted()[0];
    // Beyond this id, one of the lists has ids that were not read yet.
    const [own = [], everyone = []] = parts.map(({ ids }) => ids.filter((id) => next === undefined || id < next));
    return { kind: 'listed', own, everyone, next };
  });
}

/** All agents on which the caller has the right. @throws RelationsUnavailableError, and the reason of the signal */
export async function wholeReach(rights: Rights, signal: AbortSignal): Promise<AgentReach> {
  return await unlessTooComplex(async () => {
    const [own = [], everyone = []] = await Promise.all(listsOf(rights, signal).map(all));
    return { kind: 'listed', own, everyone, next: undefined };
  });

  async function all(lists: readonly IdList[]): Promise<readonly string[]> {
    const parts: (readonly string[])[] = [];
    for (let from: string | undefined = ''; from !== undefined; ) {
      const part = await commonIds(lists, { from, limit: mostAtOnce });
      parts.push(part.ids);
      from = part.next;
    }
    return parts.length === 1 ? (parts[0] ?? []) : parts.flat();
  }
}

/**
 * The protocols over which the caller has the right on the agent with this id, whether or not the agent exists: no
 * protocol both for a hidden agent and for a missing one.
 * @throws RelationsUnavailableError
 */
export async function allowedProtocols(rights: Rights, agentId: string): Promise<readonly AgentProtocol[]> {
  const isIn = async (list: IdList): Promise<boolean> =>
    (await list({ from: agentId, to: agentId, limit: 1 })).includes(agentId);
  const reach = await unlessTooComplex(async () => {
    const [own, everyone] = await Promise.all(
      listsOf(rights, undefined).map(async (lists) => (await Promise.all(lists.map(isIn))).every(Boolean)),
    );
    return { kind: 'known', own, everyone } as const;
  });
  if (reach.kind === 'known') return agentProtocols.filter((one) => reach.own || (one === 'a2a' && reach.everyone));
  const agents = agentProtocols.map((protocol) => ({ agent_id: agentId, protocol }));
  const allowed = await judgeAgents(rights, agents);
  return agentProtocols.filter((_protocol, at) => allowed[at]);
}

/** The lists whose common ids are the caller's own, and the list of every caller. @param signal stops before the next question */
function listsOf(
  { relations, caller, right }: Rights,
  signal: AbortSignal | undefined,
): readonly [own: readonly IdList[], everyone: readonly IdList[]] {
  const own = agentPrincipals(caller, false);
  const everyone = { subject: membersOfGroup(authenticatedAll), claimed: [] };
  return [own.map(listOf), [listOf(everyone)]];

  function listOf({ subject, claimed }: (typeof own)[number]): IdList {
    return async ({ from, to, limit }) => {
      signal?.throwIfAborted();
      const window = { from: `${start}${from}`, ...(to === undefined ? {} : { to: `${start}${to}` }), limit };
      const objects = await relations.nextObjects(subject, right, 'agent', window, claimed);
      return objects.map((object) => object.slice(start.length));
    };
  }
}

async function unlessTooComplex<T>(ask: () => Promise<T>): Promise<T | typeof wideReach> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RelationsModelError && error.code === 'too_complex') return wideReach;
    throw error;
  }
}
