import type { FailingProvider } from '#contracts/failing-provider';
import { managedCollectionLimits } from '#contracts/managed-collections';
import type { Database } from '#sql/connect';

/** Maximum number of waiting jobs that are read: all of them name the same few providers. */
const mostJobs = 1_000;

/**
 * The detectors and classifiers that did not judge at the last attempt of an open job or of the build of a version, each
 * rule once, in a fixed order.
 * @throws SqlUnavailableError
 */
export async function readFailingProviders(
  { sql }: Database,
  collectionId: string,
): Promise<readonly FailingProvider[]> {
  const rows = await sql<{ readonly failing: FailingProvider }[]>`
    select distinct failing from (
      (select failing_provider as failing from retrieval.jobs
        where collection_id = ${collectionId} and failing_provider is not null and status in ('PENDING', 'RUNNING')
        limit ${mostJobs})
      union all
      select failing_provider from retrieval.index_versions
      where collection_id = ${collectionId} and failing_provider is not null and state = 'building') one
    order by failing limit ${managedCollectionLimits.failingProviders}`;
  return rows.map(({ failing }) => failing);
}
