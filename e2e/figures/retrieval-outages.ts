import { missingPostgres } from '#sql/testing/test-server';
import { minioProgram } from '../retrieval/minio-server.ts';
import { natsProgram } from '../retrieval/nats-server.ts';
import { missingOpenSearch } from '../retrieval/opensearch-server.ts';
import type { Combination } from '../retrieval-outages/outage-world.ts';
import { type OutageSize, runOutages } from '../retrieval-outages/run-outages.ts';
import type { Figure } from '../support/figure.ts';

const sizes: Readonly<Record<'small' | 'full', OutageSize>> = {
  small: { submits: 60, documents: 20, kills: 6 },
  full: { submits: 1_250, documents: 100, kills: 50 },
};
const combinations = {
  small: [{ queue: 'nats', objects: 's3', search: 'opensearch' }],
  full: [
    { queue: 'postgres', objects: 'folder', search: 'embedded' },
    { queue: 'postgres', objects: 's3', search: 'embedded' },
    { queue: 'nats', objects: 'folder', search: 'embedded' },
    { queue: 'nats', objects: 's3', search: 'embedded' },
    { queue: 'postgres', objects: 'folder', search: 'opensearch' },
    { queue: 'nats', objects: 's3', search: 'opensearch' },
  ],
} as const satisfies Record<string, readonly Combination[]>;

/** The requirement of a combination that this machine lacks; undefined if it lacks none. */
function missingFor({ queue, objects, search }: Combination): string | undefined {
  return (
    missingPostgres ??
    (queue === 'nats' ? natsProgram.missing : undefined) ??
    (objects === 's3' ? minioProgram.missing : undefined) ??
    (search === 'opensearch' ? missingOpenSearch : undefined)
  );
}

export const figure: Figure = {
  name: 'retrieval-outages',
  title:
    'API, worker, PostgreSQL, NATS, MinIO and OpenSearch are killed under submits, searches and reindexes, in ' +
    'combinations of queue, store and index: no document is lost or repeated, no answer is incomplete or mixed',
  run: async (size, say) => {
    const missing = combinations[size].map(missingFor).find((reason) => reason !== undefined);
    if (missing !== undefined && size === 'full') return { skipped: missing };
    const possible = combinations[size].filter((combination) => missingFor(combination) === undefined);
    if (possible.length === 0) return { skipped: missing ?? '' };
    const lines: string[] = [];
    let holds = true;
    for (const combination of possible) {
      const name = `${combination.queue}, ${combination.objects} and ${combination.search}`;
      const found = await runOutages(combination, sizes[size]);
      for (const fault of found.faults.slice(0, 10)) say(`${name}: ${fault}`);
      if (found.first !== undefined) say(`${name}: ${found.first}`);
      holds &&= found.faults.length + found.incomplete + found.mixed === 0 && found.answers > 0 && found.reindexes > 0;
      const kills = Object.entries(found.kills).map(([part, count]) => `${part} ${count}`);
      lines.push(
        `${name}: ${found.accepted} submits accepted, kills: ${kills.join(', ')}; ${found.reindexes} reindexes, ` +
          `${found.replays} dead letters replayed; ${found.answers} answers of searches, ${found.refused} refused, ` +
          `${found.incomplete} incomplete, ${found.mixed} mixed; ${found.faults.length} faults`,
      );
      say(lines.at(-1) ?? '');
    }
    if (missing !== undefined) lines.push(`a combination was left out: ${missing}`);
    return { holds, line: lines.join('; ') };
  },
};
