import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type CatalogueErrorCode, catalogueErrors } from '#contracts/catalogue-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import type { AgentFeed, FeedChange } from '../feed/follow-agents.ts';
import { type CatalogueOperation, catalogueOperationNames } from '../http/catalogue-table.ts';

const codes = Object.keys(catalogueErrors) as CatalogueErrorCode[];
const changes: readonly FeedChange[] = ['written', 'removed', 'failed'];

type CatalogueMetrics = RequestMetrics<CatalogueOperation, CatalogueErrorCode> & {
  readonly registry: Metrics;
  feedChanged(change: FeedChange): void;
  /** The state of the feed at a scrape; undefined in a process without one. */
  feed(state: Pick<AgentFeed, 'pending' | 'isPaused'> | undefined): void;
  databaseAnswers(answers: boolean): void;
  /**
   * @param problems of the newest change of the file of profiles; while there are any, the previous profiles are in use
   */
  profilesRead(problems: readonly string[]): void;
};

export function createCatalogueMetrics(): CatalogueMetrics {
  const registry = createMetrics({ service: 'catalogue' });
  const requests = createRequestMetrics(registry, {
    service: 'catalogue',
    operations: catalogueOperationNames,
    codes,
    mostIssuers: maxIssuers,
  });
  const written = registry.counter({
    name: 'portcullis_catalogue_feed_changes_total',
    help: 'Changes of agents that the feed stored, and passes of the feed that failed.',
    labels: { change: changes },
  });
  const pending = registry.gauge({
    name: 'portcullis_catalogue_feed_pending',
    help: 'Agents that may have changed and are not compared yet.',
    labels: {},
  });
  const paused = registry.gauge({
    name: 'portcullis_catalogue_feed_paused',
    help: '1 while removals wait because too many agents vanished at once, else 0.',
    labels: {},
  });
  const answers = registry.gauge({
    name: 'portcullis_catalogue_database_answers',
    help: '1 if the database answered at this scrape, else 0.',
    labels: {},
  });
  const refused = registry.gauge({
    name: 'portcullis_catalogue_file_refused',
    help: '1 while the newest change of the profiles of models is refused and the content before it is in use, else 0.',
    labels: {},
  });
  return {
    registry,
    ...requests,
    feedChanged: (change) => written.add({ change }),
    feed(state) {
      if (state === undefined) return;
      pending.set({}, state.pending());
      paused.set({}, state.isPaused() ? 1 : 0);
    },
    profilesRead: (problems) => refused.set({}, problems.length > 0 ? 1 : 0),
    databaseAnswers: (isAnswering) => answers.set({}, isAnswering ? 1 : 0),
  };
}
