import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import { measureRights } from '../retrieval/measure-rights.ts';
import type { RightsComparison } from '../retrieval/rights-steps.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

/** Steps over all stores of relations together. */
const steps = { small: 400, full: 10_000 } as const;

export const figure: Figure = {
  name: 'retrieval-rights',
  title:
    'random grants, revokes, shares, moves, group changes and queries of all modes: nothing forbidden is found, nothing allowed missing',
  run: async (size, say) => {
    const missing = missingPostgres ?? missingOpenFga;
    if (missing !== undefined) return { skipped: missing };
    const seed = Number(process.env['PORTCULLIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    say(`seed ${seed}: PORTCULLIS_SEED=${seed} repeats it`);
    await using server = await startTestServer();
    await using openfga = await startOpenFga();
    const storeName = 'figure';
    const lines: string[] = [];
    let holds = true;
    for (const kind of ['postgres', 'openfga'] as const) {
      await using opened = await server.createDatabase();
      const name = kind === 'postgres' ? 'PostgreSQL, embedded search' : 'OpenFGA, embedded search';
      const ofOpenFga = {
        config: { relations: { kind: 'openfga', url: openfga.url, storeName } },
        openRelations: async () =>
          openOpenFgaRelations({ url: openfga.url, storeName, stores: await openStoreRegistry(opened.database) }),
      } as const;
      const found = await measureRights(opened, {
        ...{ name, steps: steps[size] / 2, random: randomFrom(seed) },
        ...(kind === 'openfga' ? ofOpenFga : {}),
      });
      say(`${name}: ${JSON.stringify(found.steps)}`);
      if (found.first !== undefined) say(found.first);
      holds &&= isRight(found);
      lines.push(
        `${name}: ${found.queries} queries, ${found.restricted} of them restricted, ${found.found} chunks, ` +
          `${found.forbidden} forbidden, ${found.missing} missing, ${found.wrongStatus} wrong answers`,
      );
    }
    return { holds, line: lines.join('; ') };
  },
};

function isRight({ forbidden, missing, wrongStatus, found, restricted }: RightsComparison): boolean {
  return forbidden + missing + wrongStatus === 0 && found > 0 && restricted > 0;
}
