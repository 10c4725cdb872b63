import type { Database } from '#sql/connect';
import type { ManagementCaches } from './caches.ts';
import type { ManagementMetrics } from './metrics.ts';

/** A server of resources that was not heard for so long tells nothing new, milliseconds. */
const maxSilenceMs = 60_000;

export type Readiness = {
  /** What keeps this replica from answering on fresh facts; empty when it is ready. */
  problems(): Promise<readonly string[]>;
  /** No more traffic is wanted. */
  withdraw(): void;
  refresh(): void;
};

export function createReadiness(options: {
  readonly caches: Pick<ManagementCaches, 'silenceMs'>;
  readonly database: Database;
  readonly metrics: ManagementMetrics;
  /** The database answers and does not hold what this process found or made in it at its start. */
  readonly onEmptied: () => void;
}): Readiness {
  const { caches, database, metrics, onEmptied } = options;
  let isWithdrawn = false;

  return {
    async problems() {
      if (isWithdrawn) return ['this process is about to end'];
      const watched = caches.silenceMs() <= maxSilenceMs ? [] : ['the server of the resources is silent'];
      const state = await stateOf(database);
      metrics.databaseAnswers(state !== 'away');
      if (state === 'emptied') onEmptied();
      return [...watched, ...stateProblems[state]];
    },
    withdraw() {
      isWithdrawn = true;
    },
    refresh: () => metrics.watchSilence(caches.silenceMs() / 1_000),
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
