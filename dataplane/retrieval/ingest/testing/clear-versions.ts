import type { Database } from '#sql/connect';
import { type ClearPorts, versionClearer } from '../reindex/clear-versions.ts';

/** Removes old versions once, without a grace period unless one is given; throws if a version cannot be removed. */
export function clearVersions(database: Database, ports: Partial<ClearPorts> = {}): Promise<number> {
  const clear = versionClearer({
    database,
    graceMs: 0,
    dropPartition: async () => undefined,
    onFailed(_version, error) {
      throw error;
    },
    now: () => 0,
    ...ports,
  });
  return clear(new AbortController().signal);
}
