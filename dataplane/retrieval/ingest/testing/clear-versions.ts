import type { Database } from '#sql/connect';
import { type ClearPorts, versionClearer } from '../reindex/clear-versions.ts';

/** One removal of old versions, without a grace unless one is given; a version that cannot be removed throws. */
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
