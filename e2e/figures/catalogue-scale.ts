import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { measureCatalogueScale, timesLine } from '../catalogue/measure-scale.ts';
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
const callers = ['share-0.001', 'share-0.005', 'share-0.01', 'grouped', 'all'] as const;

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
    const found = await measureCatalogueScale(world, { agents, requests, callers, say });
    const holds = found.every(({ caller, page, search }) => {
      if (caller === 'share-0.001' || caller === 'share-0.005') return true;
      return page <= bounds.page && search <= (caller === 'all' ? bounds.searchAll : bounds.search);
    });
    return { holds, line: `${agents} agents, 95th percentiles of ${requests} requests: ${timesLine(found)}` };
  },
};
