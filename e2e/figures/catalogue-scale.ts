import { until } from '#kit/testing/until';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { fillCatalogue } from '../catalogue/fill-catalogue.ts';
import type { Figure } from '../support/figure.ts';

/**
 * `page` and `search` bound the 95th percentiles at 1 % visible, milliseconds. A caller who sees everything has the same
 * bound for a page and `searchAll` for a search, which ranks within all that it sees.
 */
const sizes = {
  // A small run checks that the requests are answered in full; times mean nothing beside other tests.
  small: { agents: 2_000, requests: 20, page: 10_000, search: 10_000, searchAll: 10_000 },
  full: { agents: 100_000, requests: 400, page: 60, search: 90, searchAll: 400 },
} as const;
/** Of all agents, what the caller may view and invoke. */
const shares = [0.001, 0.005, 0.01] as const;
export const figure: Figure = {
  name: 'catalogue-scale',
  title:
    'pages of 20 and searches among 100,000 agents by callers who may view and invoke 0.1, 0.5 and 1 % of them, by one with 1 % through 1,000 groups, and by one who may use all: at 1 % the 95th percentile of a page is at most 60 ms and of a search at most 90 ms, and of all at most 60 and 400 ms',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    await using world = await startCatalogue(await server.createDatabase(), {
      config: { indexBytes: 1_024 * 1_048_576 },
      // The agents have no resources, so that each pass of the feed would ask for all of them.
      overrides: { pollMs: 3_600_000 },
    });
    const { agents, requests, ...bounds } = sizes[size];
    const ids = await fillCatalogue(world, agents);
    say(`${agents} agents are stored`);
    const callers: string[] = [];
    for (const share of shares) {
      const name = `share-${share}`;
      const reached = ids.filter((_id, at) => at % Math.round(1 / share) === 0);
      await grantAll(reached.flatMap((id) => both(`user:https%3A//people.example|${name}`, id)));
      callers.push(name);
    }
    const member = 'user:https%3A//people.example|grouped';
    const grouped = ids.filter((_id, at) => at % 100 === 1);
    await grantAll(
      grouped.flatMap((id, at) => {
        const group = `group:acme/team-${at % 1_000}`;
        return [{ subject: member, relation: 'member', object: group }, ...both(`${group}#member`, id)];
      }),
    );
    const staff = 'group:acme/staff';
    await grantAll([{ subject: 'user:https%3A//people.example|all', relation: 'member', object: staff }]);
    await grantAll(ids.flatMap((id) => both(`${staff}#member`, id)));
    callers.push('grouped', 'all');
    await world.database.sql`analyze`;
    const first = await world.token('grouped');
    const begun = performance.now();
    const body = JSON.stringify({ query: 'salaries and holidays', workspaceId: 'support' });
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    await until('the index is loaded', async () => {
      const { status, text } = await world.ask(first, '/api/v1/agents/search', init);
      if (status !== 200) say(text);
      return status === 200;
    });
    say(`the index was loaded after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    const found: string[] = [];
    let holds = true;
    for (const caller of callers) {
      const token = await world.token(caller);
      const page = await percentile(requests, () => world.ask(token, '/api/v1/agents'), 'items', 20);
      const search = await percentile(requests, () => world.ask(token, '/api/v1/agents/search', init), 'matches', 1);
      found.push(`${caller}: page ${page.toFixed(1)} ms, search ${search.toFixed(1)} ms`);
      const isBounded = caller === 'share-0.01' || caller === 'grouped' || caller === 'all';
      const most = caller === 'all' ? bounds.searchAll : bounds.search;
      if (isBounded && (page > bounds.page || search > most)) holds = false;
    }
    return { holds, line: `${agents} agents, 95th percentiles of ${requests} requests: ${found.join('; ')}` };

    async function grantAll(tuples: readonly { subject: string; relation: string; object: string }[]): Promise<void> {
      for (let at = 0; at < tuples.length; at += 100) await world.relations.grant(tuples.slice(at, at + 100));
    }
  },
};

function both(subject: string, id: string) {
  return ['view', 'invoke'].map((relation) => ({ subject, relation, object: `agent:${id}` }));
}

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> };

/** The 95th percentile of the durations in milliseconds. @throws Error for an answer that is not as full as expected */
async function percentile(
  requests: number,
  ask: () => Promise<Answer>,
  list: 'items' | 'matches',
  least: number,
): Promise<number> {
  const times: number[] = [];
  for (let at = -10; at < requests; at += 1) {
    const start = performance.now();
    const { status, json } = await ask();
    if (at >= 0) times.push(performance.now() - start);
    const entries = json[list] as readonly unknown[] | undefined;
    if (status !== 200 || entries === undefined || entries.length < Math.min(least, 2)) {
      throw new Error(`a request was answered ${status} with ${entries?.length ?? 'no'} entries`);
    }
  }
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? 0;
}
