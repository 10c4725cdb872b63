import type { Database } from '#sql/connect';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { Quotas } from '../policies/quotas.ts';
import type { ManagementMetrics } from './metrics.ts';

/** Longest silence of a watch before its cache counts as stale, milliseconds. */
const maxSilenceMs = 60_000;

type ManagementReadiness = {
  /** The reasons why this replica is not ready, one sentence each; empty when it is ready. */
  problems(): Promise<readonly string[]>;
  /** Makes the replica unready until it exits, because it shuts down. */
  withdraw(): void;
  /** Sets the metrics that are computed on demand. */
  refresh(): void;
};

export function createManagementReadiness(options: {
  readonly caches: Pick<ManagementCaches, 'silenceMs'>;
  readonly database: Database;
  readonly metrics: ManagementMetrics;
  readonly quotas: Pick<Quotas, 'used'>;
  /** Tables that the database lacks. */
  readonly missingTables: () => readonly string[];
}): ManagementReadiness {
  const { caches, database, metrics, quotas, missingTables } = options;
  let isWithdrawn = false;

  return {
    async problems() {
      if (isWithdrawn) return ['this process is shutting down'];
      const watched = caches.silenceMs() <= maxSilenceMs ? [] : ['the resource server does not respond'];
      const state = await stateOf(database, missingTables());
      metrics.databaseAnswers(state === 'there');
      return [...watched, ...stateProblems[state]];
    },
    withdraw() {
      isWithdrawn = true;
    },
    refresh() {
      metrics.watchSilence(caches.silenceMs() / 1_000);
      metrics.quotasUsed(quotas.used());
    },
  };
}

const stateProblems = {
  there: [],
  away: ['the database does not answer'],
  incomplete: ['the database lacks tables'],
} as const;

function stateOf({ sql }: Database, missing: readonly string[]): Promise<keyof typeof stateProblems> {
  return sql`select 1`.then(
    () => (missing.length === 0 ? 'there' : 'incomplete'),
    () => 'away',
  );
}
