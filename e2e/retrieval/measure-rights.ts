import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import type { TestDatabase } from '#sql/testing/test-server';
import type { RetrievalConfig } from '../../dataplane/retrieval/config.ts';
import { startRetrieval, type TestCaller } from '../../dataplane/retrieval/testing/start-retrieval.ts';
import type { Asker } from './expected-rights.ts';
import { compareLargeCollection } from './large-collection.ts';
import { type CallService, compareRights, type RightsComparison, type RightsService } from './rights-steps.ts';

type Measurement = {
  /** Names the stores in the description of a fault. */
  readonly name: string;
  readonly steps: number;
  readonly random: () => number;
  readonly config?: Partial<RetrievalConfig>;
  /** Opens the store of rights that the service uses; PostgreSQL if absent. */
  readonly openRelations?: () => Promise<Relations>;
  /** Whether queries for one result in a collection of 450 chunks are also compared. */
  readonly large?: boolean;
  /** Puts a fault between the steps and the service, to prove that the comparison sees it. */
  readonly disturb?: (call: CallService) => CallService;
};

const noComparison = { queries: 0, forbidden: 0, missing: 0 } as const;

type MeasuredRights = RightsComparison & { readonly large: Awaited<ReturnType<typeof compareLargeCollection>> };

/** Starts the service over an empty database and compares its answers with the plain model of rights. */
export async function measureRights(opened: TestDatabase, measurement: Measurement): Promise<MeasuredRights> {
  const { name, steps, random, config = {}, disturb = (call) => call } = measurement;
  await using service = await startRetrieval(opened, { config });
  const relations = await (measurement.openRelations?.() ?? openPostgresRelations(opened.database));
  for (const tenant of ['acme', 'globex']) {
    const root = userSubject({ issuer: `development:${tenant}`, subject: 'root' });
    await relations.grant([{ subject: root, relation: 'administer', object: controlPlane }]);
  }
  const compared: RightsService = {
    name,
    call: disturb((asker, path, body) => service.call(headersOf(asker), path, body)),
    async ingest(asker, documents) {
      const jobs = await service.ingest(headersOf(asker), documents);
      const failed = jobs.find(({ status }) => status !== 'DONE');
      if (failed !== undefined) throw new Error(`a document was not ingested: ${failed.error}`);
    },
  };
  const found = await compareRights(compared, steps, random);
  const large = measurement.large === true ? await compareLargeCollection(compared, random) : noComparison;
  return { ...found, large };
}

function headersOf({ agent, ...asker }: Asker): TestCaller {
  return agent === undefined ? asker : { ...asker, agent };
}
