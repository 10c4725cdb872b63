import type { TestDatabase } from '#sql/testing/test-server';
import { type CatalogueParts, startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { compareHidden, missingAgents } from '../support/compare-hidden.ts';
import type { FigureSize } from '../support/figure.ts';

const pairs = { full: 20_000, small: 500 } as const;
/**
 * Number of groups that may view the hidden agent, so that a question from the side of the agent would cost more than
 * for a missing agent.
 */
const groups = 50;

/** Measures reads of an agent that 50 groups, but not the caller, may view, and of two missing agents. */
export async function measureHiddenReads(
  files: TestDatabase,
  options: CatalogueParts,
  size: FigureSize,
  say: (progress: string) => void,
): ReturnType<typeof compareHidden> {
  await using world = await startCatalogue(files, options);
  const [hidden, seen] = [await world.publish('hidden'), await world.publish('seen')];
  await world.allow('bob', 'view', seen);
  await world.relations.grant(
    Array.from({ length: groups }, (_one, at) => ({
      subject: `group:acme/${at}#member`,
      relation: 'view',
      object: `agent:${hidden.agentId}`,
    })),
  );
  const ids = { hidden: hidden.agentId, ...missingAgents };
  let token = '';
  return await compareHidden({
    pairs: pairs[size],
    seed: 17,
    say,
    async renew() {
      token = await world.token('bob');
    },
    operations: ['GET'],
    ask: (kind) => fetch(`${world.url}/api/v1/agents/${ids[kind]}`, { headers: { authorization: `Bearer ${token}` } }),
  });
}
