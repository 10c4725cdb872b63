import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { measureCatalogueScale, timesLine } from '../catalogue/measure-scale.ts';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import type { Figure } from '../support/figure.ts';

const sizes = { small: { agents: 2_000, requests: 10 }, full: { agents: 100_000, requests: 100 } } as const;
const callers = ['share-0.001', 'share-0.005', 'share-0.01', 'grouped'] as const;

export const figure: Figure = {
  name: 'catalogue-scale-openfga',
  title:
    'pages of 20 and searches among 100,000 agents with rights in OpenFGA, by callers who may view and invoke 0.1, 0.5 and 1 % of them and by one with 1 % through 1,000 groups: every answer is complete; the 95th percentiles are reported without a bound, because the server answers the questions',
  async run(size, say) {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    await using server = await startTestServer();
    await using openFga = await startOpenFga();
    await using world = await startCatalogue(await server.createDatabase(), {
      config: { indexBytes: 1_024 * 1_048_576 },
      // The agents have no resources, so that each pass of the feed would ask for all of them.
      overrides: { pollMs: 3_600_000 },
      openRights: async (database) =>
        await openOpenFgaRelations({
          url: openFga.url,
          storeName: 'scale',
          stores: await openStoreRegistry(database),
        }),
    });
    const { agents, requests } = sizes[size];
    const found = await measureCatalogueScale(world, { agents, requests, callers, say });
    return { holds: true, line: `${agents} agents, 95th percentiles of ${requests} requests: ${timesLine(found)}` };
  },
};
