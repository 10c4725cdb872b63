import { until } from '#kit/testing/until';
import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { fillCatalogue } from './fill-catalogue.ts';

/** Of all agents, what the callers with their own relations may view and invoke. */
const shares = [0.001, 0.005, 0.01] as const;
/** Groups through which a caller has 1 % of the agents. */
const teams = 1_000;

type ScaleCaller = 'share-0.001' | 'share-0.005' | 'share-0.01' | 'grouped' | 'all';
type Scale = {
  readonly agents: number;
  readonly requests: number;
  readonly callers: readonly ScaleCaller[];
  readonly say: (progress: string) => void;
};
/** The 95th percentiles of one caller, milliseconds. */
type CallerTimes = { readonly caller: ScaleCaller; readonly page: number; readonly search: number };

/** Fills a catalogue, gives each caller its rights and measures its pages of 20 and its searches, one after the other. */
export async function measureCatalogueScale(world: CatalogueWorld, scale: Scale): Promise<readonly CallerTimes[]> {
  const { agents, requests, callers, say } = scale;
  const ids = await fillCatalogue(world, agents);
  say(`${agents} agents are stored`);
  for (const caller of callers) await giveRights(world, caller, ids);
  await world.database.sql`analyze`;
  say('the rights are stored');
  const body = JSON.stringify({ query: 'salaries and holidays', workspaceId: 'support' });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const first = await world.token(callers[0] ?? '');
  const begun = performance.now();
  await until('the index is loaded', async () => {
    const { status, text } = await world.ask(first, '/api/v1/agents/search', init);
    if (status !== 200) say(text);
    return status === 200;
  });
  say(`the index was loaded after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  const found: CallerTimes[] = [];
  for (const caller of callers) {
    // A token is valid for ten minutes.
    const token = await world.token(caller);
    const page = await percentile(requests, () => world.ask(token, '/api/v1/agents'), 'items', 20);
    const search = await percentile(requests, () => world.ask(token, '/api/v1/agents/search', init), 'matches', 1);
    say(`${caller}: page ${page.toFixed(1)} ms, search ${search.toFixed(1)} ms`);
    found.push({ caller, page, search });
  }
  return found;
}

/** What was measured, in one line. */
export function timesLine(times: readonly CallerTimes[]): string {
  return times
    .map(({ caller, page, search }) => `${caller}: page ${page.toFixed(1)} ms, search ${search.toFixed(1)} ms`)
    .join('; ');
}

async function giveRights(world: CatalogueWorld, caller: ScaleCaller, ids: readonly string[]): Promise<void> {
  const subject = `user:https%3A//people.example|${caller}`;
  const staff = 'group:acme/staff';
  const share = shares.find((one) => caller === `share-${one}`);
  if (share !== undefined) {
    const own = ids.filter((_id, at) => at % Math.round(1 / share) === 0);
    return await grantAll(own.flatMap((id) => both(subject, id)));
  }
  if (caller === 'all') {
    await grantAll([{ subject, relation: 'member', object: staff }]);
    return await grantAll(ids.flatMap((id) => both(`${staff}#member`, id)));
  }
  const own = ids.filter((_id, at) => at % 100 === 1);
  await grantAll(
    own.flatMap((id, at) => {
      const group = `group:acme/team-${at % teams}`;
      return [{ subject, relation: 'member', object: group }, ...both(`${group}#member`, id)];
    }),
  );

  async function grantAll(tuples: readonly { subject: string; relation: string; object: string }[]): Promise<void> {
    for (let at = 0; at < tuples.length; at += 100) await world.relations.grant(tuples.slice(at, at + 100));
  }
}

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
