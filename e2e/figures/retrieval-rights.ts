import { temporaryFolder } from '#kit/testing/temporary-folder';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { missingPostgres, startTestServer, type TestDatabase } from '#sql/testing/test-server';
import { missingOpenFga, startOpenFga } from '../relations/openfga-server.ts';
import { measureRights } from '../retrieval/measure-rights.ts';
import { missingOpenSearch, startOpenSearch } from '../retrieval/opensearch-server.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

/** Steps over all combinations of stores together. */
const steps = { small: 400, full: 10_000 } as const;

export const figure: Figure = {
  name: 'retrieval-rights',
  title:
    'random grants, revokes, shares, moves, group changes and queries of all modes: nothing forbidden is found, nothing allowed missing',
  run: async (size, say) => {
    const left = combinations.flatMap(({ name, missing }) => (missing === undefined ? [] : [`${name}: ${missing}`]));
    // The published figure covers every combination; the small figure covers those that this machine can run.
    if (missingPostgres !== undefined || (size === 'full' && left.length > 0)) {
      return { skipped: missingPostgres ?? left.join('; ') };
    }
    const seed = Number(process.env['PORTCULLIS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    say(`seed ${seed}: PORTCULLIS_SEED=${seed} repeats it`);
    await using server = await startTestServer();
    const lines: string[] = [];
    let holds = true;
    for (const { name, missing, open } of combinations) {
      if (missing !== undefined) continue;
      await using parts = new AsyncDisposableStack();
      const opened = parts.use(await server.createDatabase());
      const found = await measureRights(opened, {
        large: true,
        ...{ name, steps: Math.ceil(steps[size] / combinations.length), random: randomFrom(seed) },
        ...(await open(opened, parts)),
      });
      say(`${name}: ${JSON.stringify(found.steps)}`);
      if (found.first !== undefined) say(found.first);
      holds &&= isRight(found);
      lines.push(
        `${name}: ${found.queries} queries, ${found.restricted} of them restricted, ${found.found} chunks, ` +
          `${found.forbidden} forbidden, ${found.missing} missing, ${found.wrongStatus} wrong answers, ${found.repeated} repeated after a 503; ` +
          `${found.large.queries} queries of one result among 450 chunks, ${found.large.forbidden} forbidden, ${found.large.missing} missing`,
      );
    }
    return { holds, line: [...lines, ...left.map((reason) => `left out: ${reason}`)].join('; ') };
  },
};

type Measured = Awaited<ReturnType<typeof measureRights>>;

type Combination = {
  readonly name: string;
  /** The missing requirement on this machine. */
  readonly missing: string | undefined;
  readonly open: (
    opened: TestDatabase,
    parts: AsyncDisposableStack,
  ) => Promise<Pick<Parameters<typeof measureRights>[1], 'config' | 'openRelations'>>;
};

const storeName = 'figure';
const combinations: readonly Combination[] = [
  { name: 'PostgreSQL, embedded search', missing: undefined, open: async () => ({}) },
  {
    name: 'OpenFGA, embedded search',
    missing: missingOpenFga,
    open: inOpenFga,
  },
  {
    name: 'PostgreSQL, OpenSearch',
    missing: missingOpenSearch,
    open: async (_opened, parts) => ({ config: await inOpenSearch(parts) }),
  },
  {
    name: 'OpenFGA, OpenSearch',
    missing: missingOpenFga ?? missingOpenSearch,
    async open(opened, parts) {
      const { config, openRelations } = await inOpenFga(opened, parts);
      return { config: { ...config, ...(await inOpenSearch(parts)) }, openRelations };
    },
  },
];

async function inOpenFga({ database }: TestDatabase, parts: AsyncDisposableStack) {
  const { url } = parts.use(await startOpenFga());
  return {
    config: { relations: { kind: 'openfga', url, storeName } },
    openRelations: async () => openOpenFgaRelations({ url, storeName, stores: await openStoreRegistry(database) }),
  } as const;
}

async function inOpenSearch(parts: AsyncDisposableStack) {
  const { url } = parts.use(await startOpenSearch());
  const openSearch = { url, credential: undefined, caFile: undefined, prefix: 'rights' };
  const objects = { kind: 'folder', directory: parts.use(temporaryFolder()).path } as const;
  return { stores: { nats: undefined, objects, s3: undefined, contentSourcesFile: undefined, openSearch } };
}

function isRight({ forbidden, missing, wrongStatus, found, restricted, large }: Measured): boolean {
  return forbidden + missing + wrongStatus + large.forbidden + large.missing === 0 && found > 0 && restricted > 0;
}
