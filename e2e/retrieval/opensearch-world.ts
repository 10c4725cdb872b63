import { randomBytes } from 'node:crypto';
import { connectOpenSearch } from '#search/adapters/opensearch/connect-opensearch';
import { openOpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import { MemorySource } from '#search/testing/memory-source';
import type { SearchWorld } from '#search/testing/search-index-suite';

type WorldOptions = {
  readonly url: URL;
  /** Dimensions of the vectors; 4 when absent, as in generated entries. */
  readonly dimensions?: number;
  /** Generation of another test world, to share its index. */
  readonly generation?: string;
  readonly source?: MemorySource;
  readonly timeoutMs?: number;
  /** Timeout for the changes that a query must reflect; long enough for a slow machine unless a test shortens it. */
  readonly waitMs?: number;
  /** Time after which the place is read again. */
  readonly placeMs?: number;
};

/** A separate index in a running OpenSearch, with a source in memory. Disposal does not delete the index. */
export async function openOpenSearchWorld({
  url,
  dimensions = 4,
  timeoutMs = 60_000,
  waitMs = 120_000,
  placeMs = 3_600_000,
  ...shared
}: WorldOptions) {
  const source = shared.source ?? new MemorySource({ pageSize: 3, groupsAtOnce: 3 });
  const generation = shared.generation ?? randomBytes(8).toString('hex');
  let place = { prefix: 'test', dimensions, generation };
  const connection = await connectOpenSearch({ nodes: [url], timeoutMs });
  const waits = { followMs: waitMs, loadMs: waitMs, placeMs };
  const index = openOpenSearchIndex({ connection, source, placeOf: async () => place, waits });
  return {
    source,
    index,
    generation,
    /** The alias that queries use. */
    alias: `test-${dimensions}-1-${generation}`,
    /** Begins another generation, as a restored or emptied database does. */
    renew() {
      place = { ...place, generation: randomBytes(8).toString('hex') };
    },
    async commit(partition, changes) {
      await index.write(partition, changes);
      return source.commit(partition, changes);
    },
    async interrupt() {
      // Closes only this connection, so that tests can share a server.
      await connection[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      await index[Symbol.asyncDispose]();
      await connection[Symbol.asyncDispose]();
    },
  } satisfies SearchWorld & { readonly [name: string]: unknown };
}
