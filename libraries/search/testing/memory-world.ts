import { openEmbeddedIndex } from '../adapters/embedded/embedded-index.ts';
import { MemorySource } from './memory-source.ts';
import type { SearchWorld } from './search-index-suite.ts';

/** The embedded index over a source in memory. */
export function openMemoryWorld({ mostBytes }: { readonly mostBytes: number } = { mostBytes: 64 * 2 ** 20 }) {
  const source = new MemorySource();
  const index = openEmbeddedIndex({ source, mostBytes });
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
