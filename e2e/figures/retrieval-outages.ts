import { missingPostgres } from '#sql/testing/test-server';
import { minioProgram } from '../retrieval/minio-server.ts';
import { natsProgram } from '../retrieval/nats-server.ts';
import { type OutageSize, runOutages } from '../retrieval-outages/run-outages.ts';
import type { Figure } from '../support/figure.ts';

const sizes: Readonly<Record<'small' | 'full', OutageSize>> = {
  small: { submits: 60, documents: 20, kills: 5 },
  full: { submits: 1_250, documents: 100, kills: 50 },
};
const combinations = {
  small: [{ queue: 'nats', objects: 's3' }],
  full: [
    { queue: 'postgres', objects: 'folder' },
    { queue: 'postgres', objects: 's3' },
    { queue: 'nats', objects: 'folder' },
    { queue: 'nats', objects: 's3' },
  ],
} as const;

export const figure: Figure = {
  name: 'retrieval-outages',
  title:
    'API, worker, PostgreSQL, NATS and MinIO are killed under submits, searches and reindexes, in each combination of ' +
    'queue and store: no document is lost or repeated, no answer is incomplete or mixed',
  run: async (size, say) => {
    const missing = missingPostgres ?? natsProgram.missing ?? minioProgram.missing;
    if (missing !== undefined) return { skipped: missing };
    const lines: string[] = [];
    let holds = true;
    for (const combination of combinations[size]) {
      const name = `${combination.queue} and ${combination.objects}`;
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
    return { holds, line: lines.join('; ') };
  },
};
