import { expect, test } from 'vitest';
import type { EmbeddingProfile, Models } from '#models/ports';
import { openPackedIndex } from '#search/adapters/packed/packed-index';
import { analyse } from '#search/analysis/analyse';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import type { Person } from '../people/person.ts';
import { openMemory } from '../testing/open-memory.ts';
import { memorySource } from './memory-source.ts';
import { searchMemories } from './search-memories.ts';

const profile: EmbeddingProfile = {
  ...{ id: 'words', model: 'words', dimension: 64, sendDimension: false, batch: 16, maxTokens: 512 },
  ...{ queryPrefix: '', passagePrefix: '' },
};

test.skipIf(missingPostgres !== undefined)(
  onPostgres('a first search loads the memories of the person while its query is embedded'),
  async () => {
    await using opened = await openMemory();
    await opened.say({ user: 'ann' }, 'I like chess');
    const { database } = opened.database;
    const [person] = await database.sql<Person[]>`select person, change_no as "changeNo" from memory.people`;
    const source = memorySource(database);
    const loads = Promise.withResolvers<void>();
    await using index = openPackedIndex({
      source: {
        ...source,
        segments(name) {
          loads.resolve();
          return source.segments(name);
        },
      },
      mostBytes: 2 ** 20,
    });
    const embedder = hashedWords();
    const models: Models = {
      ...embedder,
      async embed(...call) {
        await loads.promise;
        return embedder.embed(...call);
      },
    };
    const found = await searchMemories(
      { database, index, models, profile: () => profile, guard: 'unguarded', analyse, countTokens: () => 1 },
      {
        person: person as Person,
        userId: 'ann',
        request: { query: 'chess', mode: 'hybrid', top_k: 10 },
        condition: undefined,
        call: {},
      },
    );
    expect(found.results.map(({ memory }) => memory)).toEqual(['I like chess']);
  },
);
