import { type AgentProtocol, agentProtocols } from '#contracts/catalogue';
import { agentPrincipals } from '#relations/agent-principals';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import type { CatalogueCaller } from './catalogue-caller.ts';

export type CatalogueRight = 'view' | 'invoke';

type JudgedRight = {
  readonly relations: Pick<Relations, 'checkEach'>;
  readonly caller: CatalogueCaller;
  readonly right: CatalogueRight;
};

/** An agent with the protocol that decides whether the group of every caller counts. */
type JudgedAgent = { readonly agent_id: string; readonly protocol: AgentProtocol };

/**
 * Whether the caller has the right on each agent at this moment. It is checked again for the agents of an answer after
 * they were read: an agent whose right was withdrawn meanwhile is not shown (`catalogue:auth:current-check`).
 * @throws RelationsUnavailableError
 */
export async function judgeAgents(
  { relations, caller, right }: JudgedRight,
  agents: readonly JudgedAgent[],
): Promise<readonly boolean[]> {
  const allowed = new Set<JudgedAgent>();
  await Promise.all(agentProtocols.map(judge));
  return agents.map((agent) => allowed.has(agent));

  async function judge(protocol: AgentProtocol): Promise<void> {
    const judged = agents.filter((agent) => agent.protocol === protocol);
    if (judged.length === 0) return;
    const objects = judged.map(({ agent_id: id }) => `agent:${id}`);
    const answers = await Promise.all(
      agentPrincipals(caller, protocol === 'a2a').map(({ subject, claimed }) =>
        relations.checkEach(subject, right, objects, claimed).catch(unknown),
      ),
    );
    for (const [at, agent] of judged.entries()) if (answers.every((answer) => answer[at])) allowed.add(agent);
  }
}

/**
 * The caller is in more groups than the store can follow: it is not known which rights the caller has, so that no agent
 * may be shown.
 */
function unknown(error: unknown): never {
  if (error instanceof RelationsModelError && error.code === 'too_complex') throw new RelationsUnavailableError(error);
  throw error;
}
