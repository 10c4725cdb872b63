import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { measureHiddenCalls } from '../agent-gateway/measure-hidden.ts';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'agent-gateway-hidden-openfga',
  title:
    'requests of a person without rights to an agent that 50 groups may view and invoke, to a missing one and to a second missing one, in random order with rights in OpenFGA: equal bytes, and times that tell hidden from missing within the 99 % band of missing from missing',
  async run(size, say) {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    await using server = await startTestServer();
    await using openFga = await startOpenFga();
    const { url, passwordFile } = await server.createDatabase();
    await using database = connectSql({ url, applicationName: 'agents', password: passwordFrom(passwordFile) });
    const stores = await openStoreRegistry(database);
    const relations = await openOpenFgaRelations({ url: openFga.url, storeName: 'hidden', stores });
    const { isSame, isWithinChance, line } = await measureHiddenCalls(relations, size, say);
    // In a small run only equality is required, because the times of a second server vary too much for the few pairs of
    // such a run.
    return { holds: isSame && (isWithinChance || size === 'small'), line };
  },
};
