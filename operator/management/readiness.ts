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
}): Readiness {
  const { caches, database, metrics } = options;
  let isWithdrawn = false;

  return {
    async problems() {
      if (isWithdrawn) return ['this process is about to end'];
      const watched = caches.silenceMs() <= maxSilenceMs ? [] : ['the server of the resources is silent'];
      const answers = await database.sql`select 1`.then(
        () => true,
        () => false,
      );
      metrics.databaseAnswers(answers);
      return [...watched, ...(answers ? [] : ['the database does not answer'])];
    },
    withdraw() {
      isWithdrawn = true;
    },
    refresh: () => metrics.watchSilence(caches.silenceMs() / 1_000),
  };
}
