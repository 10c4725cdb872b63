import { randomBytes } from 'node:crypto';
import { connectOpenSearch } from '#search/adapters/opensearch/connect-opensearch';
import { openOpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import { MemorySource } from '#search/testing/memory-source';
import type { SearchWorld } from '#search/testing/search-index-suite';

type WorldOptions = {
  readonly url: URL;
  /** Of the vectors; 4 as in generated entries when absent. */
  readonly dimensions?: number;
  /** Of another world, to share its index. */
  readonly generation?: string;
  readonly source?: MemorySource;
  readonly timeoutMs?: number;
  /** Waits for what a query must reflect; a slow machine does not decide unless a test shortens them. */
  readonly waitMs?: number;
  /** Time after which the place is asked again. */
  readonly placeMs?: number;
};

/** An index of its own in a running OpenSearch, over a source in memory. Disposing leaves it there. */
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
    /** The name by which the index is asked. */
    alias: `test-${dimensions}-1-${generation}`,
    /** Begins another generation, as another life of the database does. */
    renew() {
      place = { ...place, generation: randomBytes(8).toString('hex') };
    },
    async commit(partition, changes) {
      await index.write(partition, changes);
      return source.commit(partition, changes);
    },
    async interrupt() {
      // Its own connection, so that tests can share a server.
      await connection[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      await index[Symbol.asyncDispose]();
      await connection[Symbol.asyncDispose]();
    },
  } satisfies SearchWorld & { readonly [name: string]: unknown };
}
