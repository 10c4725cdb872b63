import { isDeepStrictEqual } from 'node:util';
import { until } from '#kit/testing/until';
import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { type Timings, timingsOf } from '../retrieval-speed/timings.ts';
import { inRandomOrder, randomFrom } from '../support/random-from.ts';
import { type Embedder, type FilledAgent, fillCatalogue } from './fill-catalogue.ts';
import { giveRights, type ScaleCaller, visibleTo } from './scale-callers.ts';

type MeasuredCatalogue = {
  readonly world: CatalogueWorld;
  readonly agents: number;
  readonly callers: readonly ScaleCaller[];
};

type Scale = {
  readonly embedder: Embedder;
  /**
   * Number of agents from which the share of a caller is computed, so that the caller sees the same agents in every
   * catalogue.
   */
  readonly agents: number;
  readonly requests: number;
  readonly say: (progress: string) => void;
};

/** The times of one caller in a catalogue. */
export type CallerTimes = {
  readonly caller: ScaleCaller;
  /** Number of agents in the catalogue, and of those that the caller may use. */
  readonly agents: number;
  readonly visible: number;
  readonly page: Timings;
  readonly search: Timings;
};

type MeasuredScale = {
  readonly times: readonly CallerTimes[];
  /** Answers that omit an agent which their caller may see, or that contain another agent. */
  readonly faults: readonly string[];
};

type Asker = {
  readonly caller: ScaleCaller;
  readonly catalogue: MeasuredCatalogue;
  /** The agents that the caller may see, in the order of their ids. */
  readonly visible: readonly FilledAgent[];
  token: string;
};

type Answer = Awaited<ReturnType<CatalogueWorld['ask']>>;

/** One kind of request of a caller, with its times. */
type Timed = {
  readonly ask: () => Promise<Answer>;
  /** The fault of an answer. */
  readonly faultOf: (answer: Answer) => string | undefined;
  readonly times: number[];
};

const query = 'salaries and holidays';
const init = {
  method: 'POST',
  body: JSON.stringify({ query, workspaceId: 'support' }),
  headers: { 'content-type': 'application/json' },
};
const subjects = /salaries|holidays/;
const [pageSize, longestPage, matchCount] = [20, 100, 10];
const warmUp = 20;
/** A token is valid for ten minutes. */
const roundsOfToken = 20;

/**
 * Fills the catalogues and gives the callers their rights. Then each round sends one page and one search of every
 * caller, in random order, so that other work of the machine and warm code affect all callers equally. Every answer is
 * compared with the expected agents, and at the end every page of each caller.
 */
export async function measureCatalogueScale(
  catalogues: readonly MeasuredCatalogue[],
  scale: Scale,
): Promise<MeasuredScale> {
  const { requests, say } = scale;
  const askers: Asker[] = [];
  for (const catalogue of catalogues) askers.push(...(await openCatalogue(catalogue, scale)));
  const kinds = askers.map((asker) => ({ asker, page: firstPageOf(asker), search: searchOf(asker) }));
  const faults: string[] = [];
  const random = randomFrom(17);
  for (let round = -warmUp; round < requests; round += 1) {
    if (round % roundsOfToken === 0) await renewTokens(askers);
    for (const { ask, faultOf, times } of inRandomOrder(
      kinds.flatMap(({ page, search }) => [page, search]),
      random,
    )) {
      const start = performance.now();
      const answer = await ask();
      if (round >= 0) times.push(performance.now() - start);
      const fault = faultOf(answer);
      if (fault !== undefined) faults.push(fault);
    }
    if (round > 0 && round % 100 === 0) say(`${round} rounds, ${faults.length} faults`);
  }
  await renewTokens(askers);
  for (const asker of askers) faults.push(...(await walk(asker)));
  const times = kinds.map(({ asker, page, search }) => ({
    caller: asker.caller,
    agents: asker.catalogue.agents,
    visible: asker.visible.length,
    page: timingsOf(page.times),
    search: timingsOf(search.times),
  }));
  for (const one of times) say(timesLine([one]));
  return { times, faults };
}

/** The measurements as one line. */
export function timesLine(times: readonly CallerTimes[]): string {
  const ms = ({ p50, p95 }: Timings): string => `${p50.toFixed(1)} and ${p95.toFixed(1)} ms`;
  return times
    .map(
      ({ caller, agents, visible, page, search }) =>
        `${caller}, ${visible} of ${agents}: page ${ms(page)}, search ${ms(search)}`,
    )
    .join('; ');
}

/** Fills a catalogue and waits until its index is loaded. */
async function openCatalogue(
  catalogue: MeasuredCatalogue,
  { embedder, agents, say }: Scale,
): Promise<readonly Asker[]> {
  const { world, callers } = catalogue;
  const filled = await fillCatalogue(world, embedder, catalogue.agents);
  say(`${catalogue.agents} agents are stored`);
  const askers: Asker[] = [];
  for (const caller of callers) {
    const own = visibleTo(caller, filled, agents);
    await giveRights(world, caller, own);
    const visible = own.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    askers.push({ caller, catalogue, visible, token: await world.token(caller) });
  }
  await world.database.sql`analyze`;
  say('the rights are stored');
  const begun = performance.now();
  const first = await world.token(callers[0] ?? '');
  const isLoaded = async () => (await world.ask(first, '/api/v1/agents/search', init)).status === 200;
  await until('the index is loaded', isLoaded, { deadlineMs: 120_000 });
  say(`the index was loaded after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  return askers;
}

async function renewTokens(askers: readonly Asker[]): Promise<void> {
  for (const asker of askers) asker.token = await asker.catalogue.world.token(asker.caller);
}

function firstPageOf(asker: Asker): Timed {
  const { caller, catalogue, visible } = asker;
  const due = visible.slice(0, pageSize).map(({ id }) => id);
  return {
    ask: () => catalogue.world.ask(asker.token, '/api/v1/agents'),
    faultOf: ({ status, json }) =>
      isDeepStrictEqual(idsOf(json['items']), due) ? undefined : `${caller}: a page was answered ${status}`,
    times: [],
  };
}

/**
 * Every agent that the caller may use is a candidate, because all have vectors; those that share a word with the query are matches,
 * and others only if their vectors are near to it.
 */
function searchOf(asker: Asker): Timed {
  const { caller, catalogue, visible } = asker;
  const due = Math.min(matchCount, visible.length);
  const passages = new Map(visible.map(({ id, passage }) => [id, passage]));
  const isRelated = (passage: string | undefined): boolean => passage !== undefined && subjects.test(passage);
  const relatedDue = Math.min(due, [...passages.values()].filter(isRelated).length);
  return {
    ask: () => catalogue.world.ask(asker.token, '/api/v1/agents/search', init),
    faultOf({ status, json }) {
      const found = [...new Set(idsOf(json['matches']))];
      const allowed = found.filter((id) => passages.has(id)).length;
      const related = found.filter((id) => isRelated(passages.get(id))).length;
      const isFull = found.length >= relatedDue && found.length <= due;
      if (status === 200 && isFull && allowed === found.length && related === relatedDue) return undefined;
      return `${caller}: a search was answered ${status} with ${found.length} of ${due} matches, ${allowed} visible and ${related} of ${relatedDue} related`;
    },
    times: [],
  };
}

/** The faults of all pages of a caller, which are read one after another. */
async function walk({ caller, catalogue, visible, token }: Asker): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`;
    const { status, json } = await catalogue.world.ask(token, `/api/v1/agents?limit=${longestPage}${after}`);
    if (status !== 200) return [`${caller}: a page of a walk was answered ${status}`];
    ids.push(...idsOf(json['items']));
    cursor = json['nextCursor'];
  }
  const due = visible.map(({ id }) => id);
  return isDeepStrictEqual(ids, due) ? [] : [`${caller}: a walk has ${ids.length} agents, not the ${due.length} due`];
}

function idsOf(list: unknown): readonly string[] {
  return ((list ?? []) as readonly { readonly agentId: string }[]).map(({ agentId }) => agentId);
}
