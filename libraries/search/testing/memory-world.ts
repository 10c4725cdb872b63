import { openEmbeddedIndex } from '../adapters/embedded/embedded-index.ts';
import { MemorySource } from './memory-source.ts';
import type { SearchWorld } from './search-index-suite.ts';

type WorldOptions = {
  readonly mostBytes?: number;
  readonly pageSize?: number;
  readonly groupsAtOnce?: number;
  readonly refusedMs?: number;
};

/** The embedded index over a source in memory, with small pages so that tests meet their edges. */
export function openMemoryWorld({
  mostBytes = 64 * 2 ** 20,
  pageSize = 3,
  groupsAtOnce = 3,
  ...times
}: WorldOptions = {}) {
  const source = new MemorySource({ pageSize, groupsAtOnce });
  const index = openEmbeddedIndex({ source, mostBytes, ...times });
  return {
    source,
    index,
    async commit(partition, changes) {
      await index.write(partition, changes);
      return source.commit(partition, changes);
    },
    async interrupt() {
      source.failure = new Error('the database is away');
    },
    [Symbol.asyncDispose]: () => index[Symbol.asyncDispose](),
  } satisfies SearchWorld & { readonly source: MemorySource };
}
