import { setTimeout as pause } from 'node:timers/promises';
import { buildNext } from '../reindex/run-reindexer.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { unwrittenLogger } from './unwritten-logger.ts';

/**
 * Builds the version that is due until its build ends; a version that waits for jobs, or whose row a job has locked, is
 * claimed again without its pause. Undefined if no version is being built.
 */
export async function buildToEnd(ports: IngestPorts, signal: AbortSignal) {
  for (;;) {
    const end = await buildNext(ports, { logger: unwrittenLogger, leaseMs: 30_000 }, signal);
    if (end !== 'waiting' && end !== undefined) return end;
    await pause(20, undefined, { signal });
    const building = await ports.database.sql`
      update retrieval.index_versions set due_at = clock_timestamp() where state = 'building' returning number`;
    if (building.length === 0) return end;
  }
}
