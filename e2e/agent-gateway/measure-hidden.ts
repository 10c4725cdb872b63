import type { Relations } from '#relations/ports';
import { agentId, routedVersion, startAgentPlane } from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { compareHidden, missingAgents } from '../support/compare-hidden.ts';
import type { FigureSize } from '../support/figure.ts';

const pairs = { full: 20_000, small: 1_000 } as const;
/**
 * Number of groups that may view and invoke the hidden agent, so that a question from the side of the agent would cost
 * more than for a missing agent.
 */
const groups = 50;

/** Calls, by a person without rights, of an agent that 50 groups may view and invoke, and of two missing agents. */
export async function measureHiddenCalls(relations: Relations, size: FigureSize, say: (progress: string) => void) {
  await relations.grant(
    Array.from({ length: groups }, (_one, at) =>
      (['view', 'invoke'] as const).map((relation) => ({
        subject: `group:acme/${at}#member`,
        relation,
        object: `agent:${agentId}`,
      })),
    ).flat(),
  );
  await using world = await startAgentPlane(undefined, [], undefined, relations);
  await world.serve({ versions: [routedVersion(await world.startProcess())] });
  const ids = { hidden: agentId, ...missingAgents };
  let token = '';
  return await compareHidden({
    pairs: pairs[size],
    seed: 16,
    say,
    async renew() {
      token = await world.personToken('bob');
    },
    operations: ['/mcp', '/message:send'],
    ask: (kind, operation) => world.call(`/agents/${ids[kind]}${operation}`, { token, body: '{}' }),
  });
}
