import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { compareRelations, type Store } from '../relations/compare-relations.ts';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import type { Figure } from '../support/figure.ts';

const steps = { small: 500, full: 12_000 } as const;

export const figure: Figure = {
  name: 'relations',
  title:
    'random grants, revokes, checks and lists: PostgreSQL and OpenFGA answer alike, and no right outlives its revoke',
  run: async (size, say) => {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    await using server = await startTestServer();
    await using opened = await server.createDatabase();
    await using second = opened.connect();
    const first = await openPostgresRelations(opened.database);
    const postgres: Store = { name: 'PostgreSQL', replicas: [first, await openPostgresRelations(second)] };
    await using openfga = await startOpenFga();
    const stores = await openStoreRegistry(opened.database);
    const open = () => openOpenFgaRelations({ url: openfga.url, storeName: 'figure', stores });
    const other: Store = { name: 'OpenFGA', replicas: [await open(), await open()] };
    const seed = Number(process.env['PORTCULLIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    say(`seed ${seed}: PORTCULLIS_SEED=${seed} repeats it`);
    const found = await compareRelations([postgres, other], steps[size], seed);
    if (found.first !== undefined) say(found.first);
    return {
      holds: found.differences === 0 && found.staleAllows === 0 && found.wrong === 0 && found.allowed > 0,
      line:
        `${found.grants} grants, ${found.revokes} revokes, ${found.checks} checks (${found.allowed} allowed), ${found.lists} lists: ` +
        `${found.differences} differences to OpenFGA, ${found.staleAllows} stale allows, ${found.wrong} wrong answers`,
    };
  },
};
