import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { measureHiddenReads } from '../catalogue/measure-hidden.ts';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'catalogue-hidden-openfga',
  title:
    'reads of an agent that 50 groups but not the caller may view, of a missing one and of a second missing one, in random order with rights in OpenFGA: equal bytes, and times that tell hidden from missing within the 99 % band of missing from missing',
  async run(size, say) {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    await using server = await startTestServer();
    await using openFga = await startOpenFga();
    const openRights = async (database: Parameters<typeof openStoreRegistry>[0]) =>
      await openOpenFgaRelations({
        url: openFga.url,
        storeName: 'hidden',
        stores: await openStoreRegistry(database),
      });
    const files = await server.createDatabase();
    const { isSame, isWithinChance, line } = await measureHiddenReads(files, { openRights }, size, say);
    // The times of a second server vary too much for the few pairs of a small run.
    return { holds: isSame && (isWithinChance || size === 'small'), line };
  },
};
