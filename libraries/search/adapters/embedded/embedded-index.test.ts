import { describe } from 'vitest';
import { MemorySource } from '../../testing/memory-source.ts';
import { searchIndexSuite } from '../../testing/search-index-suite.ts';
import { openEmbeddedIndex } from './embedded-index.ts';

const mostBytes = 64 * 2 ** 20;

function openWorld(options: { readonly mostBytes: number } = { mostBytes }) {
  const source = new MemorySource();
  const index = openEmbeddedIndex({ source, ...options });
  return {
    source,
    index,
    async commit(...[partition, changes]: Parameters<MemorySource['commit']>) {
      await index.write(partition, changes);
      return source.commit(partition, changes);
    },
    async interrupt() {
      source.failure = new Error('the database is away');
    },
    [Symbol.asyncDispose]: () => index[Symbol.asyncDispose](),
  };
}

describe('the embedded search index', () => {
  searchIndexSuite(async () => openWorld(), { runs: 100 });
});
