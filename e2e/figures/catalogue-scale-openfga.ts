import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { measureCatalogueScale, timesLine } from '../catalogue/measure-scale.ts';
import { startOfflineEmbedder } from '../catalogue/offline-embedder.ts';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import type { Figure } from '../support/figure.ts';

const sizes = { small: { agents: 2_000, requests: 10 }, full: { agents: 100_000, requests: 100 } } as const;
const callers = ['share-0.001', 'share-0.005', 'share-0.01', 'grouped'] as const;
const shown = 5;

export const figure: Figure = {
  name: 'catalogue-scale-openfga',
  title:
    'pages of 20 and hybrid searches among 100,000 agents with rights in OpenFGA, by callers in random order with the rights to view and invoke 0.1, 0.5 and 1 % of them, and by one with 1 % through 1,000 groups: every page, walk and search has exactly the agents that its caller may see; times are reported without a bound, because the server answers the questions',
  async run(size, say) {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    await using server = await startTestServer();
    await using openFga = await startOpenFga();
    await using embedder = await startOfflineEmbedder();
    await using world = await startCatalogue(await server.createDatabase(), {
      config: embedder.config,
      // The agents have no resources, so that each pass of the feed would read all of them.
      overrides: { pollMs: 3_600_000 },
      openRights: async (database) =>
        await openOpenFgaRelations({
          url: openFga.url,
          storeName: 'scale',
          stores: await openStoreRegistry(database),
        }),
    });
    const { agents, requests } = sizes[size];
    const scale = { embedder, agents, requests, say };
    const { times, faults } = await measureCatalogueScale([{ world, agents, callers }], scale);
    for (const fault of faults.slice(0, shown)) say(fault);
    return {
      holds: faults.length === 0,
      line: `medians and 95th percentiles of ${requests} requests, ${faults.length} incomplete answers: ${timesLine(times)}`,
    };
  },
};
