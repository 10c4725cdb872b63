import type { Database } from '#sql/connect';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { Quotas } from '../policies/quotas.ts';
import type { ManagementMetrics } from './metrics.ts';

/** Longest silence of a watch before its cache counts as stale, milliseconds. */
const maxSilenceMs = 60_000;

type ManagementReadiness = {
  /** Why this replica is not ready, one sentence each; empty when it is ready. */
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
  /** Called when the database answers but lacks the tables that existed at the start. */
  readonly onEmptied: () => void;
}): ManagementReadiness {
  const { caches, database, metrics, quotas, onEmptied } = options;
  let isWithdrawn = false;

  return {
    async problems() {
      if (isWithdrawn) return ['this process is shutting down'];
      const watched = caches.silenceMs() <= maxSilenceMs ? [] : ['the resource server does not respond'];
      const state = await stateOf(database);
      metrics.databaseAnswers(state !== 'away');
      if (state === 'emptied') onEmptied();
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
  emptied: ['the database is empty'],
} as const;

function stateOf({ sql }: Database): Promise<keyof typeof stateProblems> {
  return sql`select to_regclass('management.migrations') is not null as there`.then(
    ([row]) => (row?.['there'] === true ? 'there' : 'emptied'),
    () => 'away',
  );
}
