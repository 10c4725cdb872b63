import { describe, expect, test } from 'vitest';
import type { IndexChange } from '#search/ports';
import { entryOf } from '#search/testing/generated-entries';
import { MemorySource } from '#search/testing/memory-source';
import { missingOpenSearch, onOpenSearch, startOpenSearch } from './opensearch-server.ts';
import { openOpenSearchWorld } from './opensearch-world.ts';

/** `index.max_terms_count` of OpenSearch: it refuses a clause of more values. */
const mostTerms = 65_536;

describe.skipIf(missingOpenSearch !== undefined)(onOpenSearch('documents of very many chunks'), () => {
  test('a changed document of 65,537 chunks is indexed, and a removed chunk of it is removed from the index', async () => {
    await using server = await startOpenSearch();
    const source = new MemorySource({ pageSize: 5_000, groupsAtOnce: 3 });
    await using world = await openOpenSearchWorld({ url: server.url, source, waitMs: 3_600_000 });
    const found = async (reflects: bigint, term: string) => {
      const legs = [{ kind: 'bm25', terms: [term] }] as const;
      const query = { partition: 'p', reflects, labels: ['public'], legs, window: 10 };
      return (await world.index.candidates(query))[0]?.map(({ id }) => id);
    };
    const before = await world.commit('p', [
      { kind: 'put', entry: entryOf('lost', { group: 'long', terms: ['lost'] }) },
    ]);
    expect(await found(before, 'lost')).toEqual(['lost']);
    const chunks = Array.from({ length: mostTerms + 1 }, (_, no) => `chunk-${no}`);
    const puts = chunks.map((id, no): IndexChange => {
      const term = no === 0 ? 'first' : no === mostTerms ? 'last' : 'middle';
      // The entries have no vectors, because a graph of so many vectors takes long to build.
      return { kind: 'put', entry: { id, group: 'long', labels: ['public'], attributes: {}, terms: [term] } };
    });
    const changed = await world.commit('p', [...puts, { kind: 'retain', group: 'long', ids: chunks }]);
    expect(await found(changed, 'lost')).toEqual([]);
    expect(await found(changed, 'first')).toEqual(['chunk-0']);
    expect(await found(changed, 'last')).toEqual([`chunk-${mostTerms}`]);
  });
});
