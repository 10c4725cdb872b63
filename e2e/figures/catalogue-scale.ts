import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { type CatalogueWorld, startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { type CallerTimes, measureCatalogueScale, timesLine } from '../catalogue/measure-scale.ts';
import { startOfflineEmbedder } from '../catalogue/offline-embedder.ts';
import type { Figure } from '../support/figure.ts';

/**
 * `page` and `search` bound the 95th percentiles at 1 % visible, milliseconds. For a caller who sees everything, the
 * bound of a page is the same, and `searchAll` bounds a search, which ranks all agents. `hidden` is the upper bound of
 * the median time in the whole catalogue as a multiple of the time in a tenth of it, with the same visible agents.
 * `less` is the lower bound of the median time of a caller as a multiple of the time of a caller with fewer visible
 * agents.
 */
const sizes = {
  // A small run checks that the requests are answered in full; times are meaningless while other tests run.
  small: { agents: 2_000, requests: 20, page: 10_000, search: 10_000, searchAll: 10_000, hidden: 1_000, less: 0 },
  full: { agents: 100_000, requests: 400, page: 60, search: 90, searchAll: 400, hidden: 1.5, less: 0.8 },
} as const;
const callers = ['share-0.001', 'share-0.005', 'share-0.01', 'grouped', 'all'] as const;
/** The caller that has the same agents in the smaller catalogue. */
const compared = 'share-0.01';
const shown = 5;

type Bounds = Readonly<Record<'page' | 'search' | 'searchAll' | 'hidden' | 'less', number>>;

export const figure: Figure = {
  name: 'catalogue-scale',
  title:
    'pages of 20 and hybrid searches with 384 dimensions and the index size of one machine among 100,000 agents, callers in random order: 0.1, 0.5 and 1 % of them visible, 1 % through 1,000 groups, and all; every answer has exactly the agents that its caller may see; at 1 % the 95th percentile of a page is at most 60 ms and of a search at most 90 ms, and of all at most 60 and 400 ms; the same 1,000 visible agents take at most 1.5 times as long as among 10,000, and more visible ones take at least 0.8 times as long',
  async run(size, say) {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using parts = new AsyncDisposableStack();
    const server = parts.use(await startTestServer());
    const embedder = parts.use(await startOfflineEmbedder());
    const open = async (): Promise<CatalogueWorld> =>
      parts.use(
        await startCatalogue(await server.createDatabase(), {
          config: embedder.config,
          // The agents have no resources, so that each pass of the feed would read all of them.
          overrides: { pollMs: 3_600_000 },
        }),
      );
    const { agents, requests, ...bounds } = sizes[size];
    const catalogues = [
      { world: await open(), agents, callers },
      { world: await open(), agents: agents / 10, callers: [compared] },
    ] as const;
    const { times, faults } = await measureCatalogueScale(catalogues, { embedder, agents, requests, say });
    for (const fault of faults.slice(0, shown)) say(fault);
    const missed = missedBounds(times, bounds, agents);
    for (const one of missed) say(`outside of its bound: ${one}`);
    return {
      holds: faults.length === 0 && missed.length === 0,
      line: `medians and 95th percentiles of ${requests} requests, ${faults.length} incomplete answers: ${timesLine(times)}`,
    };
  },
};

/** The names of the bounds that the times exceed. */
function missedBounds(times: readonly CallerTimes[], bounds: Bounds, agents: number): readonly string[] {
  const of = (caller: CallerTimes['caller'], among = agents): CallerTimes => {
    const found = times.find((one) => one.caller === caller && one.agents === among);
    if (found === undefined) throw new Error(`${caller} was not measured among ${among}`);
    return found;
  };
  const limits = { [compared]: bounds.search, grouped: bounds.search, all: bounds.searchAll };
  const late = (['share-0.01', 'grouped', 'all'] as const).flatMap((caller) => [
    ...(of(caller).page.p95 <= bounds.page ? [] : [`page of ${caller}`]),
    ...(of(caller).search.p95 <= limits[caller] ? [] : [`search of ${caller}`]),
  ]);
  const [whole, tenth] = [of(compared), of(compared, agents / 10)];
  const curve = (['share-0.001', 'share-0.005', 'share-0.01', 'all'] as const).map((caller) => of(caller));
  const relative = (['page', 'search'] as const).flatMap((kind) => [
    ...(whole[kind].p50 <= bounds.hidden * tenth[kind].p50 ? [] : [`${kind} among hidden agents`]),
    ...curve.slice(1).flatMap((more, at) => {
      const fewer = curve[at] as CallerTimes;
      return more[kind].p50 >= bounds.less * fewer[kind].p50 ? [] : [`${kind} of ${more.caller} after ${fewer.caller}`];
    }),
  ]);
  return [...late, ...relative];
}
