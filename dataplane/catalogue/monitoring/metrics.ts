import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type CatalogueErrorCode, catalogueErrors } from '#contracts/catalogue-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import type { RelayEnd } from '../events/relay-events.ts';
import type { AgentFeed, FeedChange } from '../feed/follow-agents.ts';
import { type CatalogueOperation, catalogueOperationNames } from '../http/catalogue-table.ts';
import type { EmbeddingEnd } from '../search/embed-agents.ts';
import type { MissingVectors } from './read-missing-vectors.ts';
import type { OutboxState } from './read-outbox.ts';

const codes = Object.keys(catalogueErrors) as CatalogueErrorCode[];
const ends: readonly RelayEnd[] = ['delivered', 'failed', 'parked'];
/** Files that the catalogue reads again when they change. */
type FollowedFile = 'models' | 'guard_target';
const embeddingEnds: readonly EmbeddingEnd[] = ['written', 'failed'];
const changes: readonly FeedChange[] = ['written', 'removed', 'failed'];

type CatalogueMetrics = RequestMetrics<CatalogueOperation, CatalogueErrorCode> & {
  readonly registry: Metrics;
  feedChanged(change: FeedChange): void;
  /** Receives the state of the feed at a scrape; undefined in a process without a feed. */
  feed(state: Pick<AgentFeed, 'pending' | 'isPaused'> | undefined): void;
  /**
   * Receives the age of the stored agents, seconds; undefined if no agent was stored or the database did not answer.
   */
  feedAge(seconds: number | undefined): void;
  eventEnded(end: RelayEnd): void;
  /**
   * Receives the state of the waiting events; undefined if this installation delivers no events or the database did not
   * answer.
   */
  outbox(found: OutboxState | undefined): void;
  /** Agents that are found by their words only; undefined in a process that does not embed, or without an answer of the database. */
  missingVectors(found: MissingVectors | undefined): void;
  /** An attempt to give an agent its vector. */
  embeddingEnded(end: EmbeddingEnd): void;
  databaseAnswers(answers: boolean): void;
  /** Receives whether the newest change of a followed file was refused, so that the earlier content is in use. */
  fileRefused(file: FollowedFile, isRefused: boolean): void;
  /** The cards that this process shows are judged by no policy. */
  unguarded(): void;
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
    help: 'Agents queued for comparison with the stored records.',
    labels: {},
  });
  const paused = registry.gauge({
    name: 'portcullis_catalogue_feed_paused',
    help: '1 while removals wait because too many agents vanished at once, else 0.',
    labels: {},
  });
  const age = registry.gauge({
    name: 'portcullis_catalogue_feed_age_seconds',
    help: 'Seconds since the stored agents contained every change of their resources. Above 60 no interface is shown; without changes it stays below 30.',
    labels: {},
  });
  const withoutVector = registry.gauge({
    name: 'portcullis_catalogue_without_vector',
    help: 'Listed agents that are found by their words only: without a vector of the profile, or with a text that the model gateway refuses. At most 10,000 of each are counted, and none without a profile.',
    labels: { reason: ['missing', 'refused'] },
  });
  const embedded = registry.counter({
    name: 'portcullis_catalogue_embeddings_total',
    help: 'Attempts to give an agent its vector, by how they ended.',
    labels: { end: embeddingEnds },
  });
  const answers = registry.gauge({
    name: 'portcullis_catalogue_database_answers',
    help: '1 if the database answered at this scrape and lacks no table, else 0.',
    labels: {},
  });
  const unguarded = registry.gauge({
    name: 'portcullis_catalogue_cards_unguarded',
    help: '1 if this process shows cards UNGUARDED, without a policy that judges their texts, else 0.',
    labels: {},
  });
  unguarded.set({}, 0);
  const refused = registry.gauge({
    name: 'portcullis_catalogue_file_refused',
    help: '1 while the newest change of the profiles of models or of the target of the served policy is refused and the content before it is in use, else 0.',
    labels: {},
  });
  const refusedFiles = new Set<FollowedFile>();
  const delivered = registry.counter({
    name: 'portcullis_catalogue_events_total',
    help: 'Attempts to deliver an event, by how they ended.',
    labels: { end: ends },
  });
  const open = registry.gauge({
    name: 'portcullis_catalogue_open_events',
    help: 'Events that are neither delivered nor parked.',
    labels: {},
  });
  const oldest = registry.gauge({
    name: 'portcullis_catalogue_oldest_event_seconds',
    help: 'Longest wait of an event that is neither delivered nor parked, since it happened or was opened again by a replay; 0 without one.',
    labels: {},
  });
  const parked = registry.gauge({
    name: 'portcullis_catalogue_parked_events',
    help: 'Events that the receiver refused for good and that are kept.',
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
    feedAge(seconds) {
      if (seconds !== undefined) age.set({}, seconds);
    },
    unguarded: () => unguarded.set({}, 1),
    fileRefused(file, isRefused) {
      if (isRefused) refusedFiles.add(file);
      else refusedFiles.delete(file);
      refused.set({}, refusedFiles.size > 0 ? 1 : 0);
    },
    eventEnded: (end) => delivered.add({ end }),
    outbox(found) {
      if (found === undefined) return;
      open.set({}, found.open);
      oldest.set({}, found.oldestSeconds);
      parked.set({}, found.parked);
    },
    missingVectors(found) {
      if (found === undefined) return;
      withoutVector.set({ reason: 'missing' }, found.missing);
      withoutVector.set({ reason: 'refused' }, found.refused);
    },
    embeddingEnded: (end) => embedded.add({ end }),
    databaseAnswers: (isAnswering) => answers.set({}, isAnswering ? 1 : 0),
  };
}
