import { expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { openMemory } from '../testing/open-memory.ts';
import { type EmbedPorts, embedMissing } from './embed-missing.ts';

test.skipIf(missingPostgres !== undefined)(
  onPostgres('after a failure memories are returned without waiting for one that a change holds'),
  async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    {
      await using memory = await openMemory({ database, config: { embeddingProfile: undefined } });
      const messages = ['one', 'two', 'three'].map((content) => ({ role: 'user', content }));
      await memory.add({ user: 'ann' }, { agent_id: 'a', infer: false, messages });
    }
    const held = Promise.withResolvers<string>();
    const release = Promise.withResolvers<void>();
    let change: Promise<void> = Promise.resolve();
    const models = hashedWords(async ([text = '']) => {
      change = sql.begin(async (own) => {
        const [row] = await own<{ text: string }[]>`
        select text from memory.memories where text <> ${text} order by text limit 1 for update`;
        held.resolve(row?.text ?? '');
        await release.promise;
      });
      await held.promise;
      throw new ModelsError('unavailable', 'the embedder does not answer');
    });
    const profile = {
      ...{ id: 'words', model: 'words', dimension: 64, sendDimension: false, batch: 16, maxTokens: 512 },
      ...{ queryPrefix: '', passagePrefix: '' },
    };
    const ports: EmbedPorts = {
      ...{ models, database: database.database, guard: 'unguarded', newId: () => '' },
      ...{ profile: () => profile, analyse: () => [], countTokens: () => 0 },
    };
    try {
      await expect(embedMissing(ports, new AbortController().signal)).rejects.toThrow(ModelsError);
      const rows = await sql<{ text: string; state: string }[]>`
      select text, case when embed_after = '-infinity' then 'returned'
        when embed_after < clock_timestamp() + interval '60 seconds' then 'waits' else 'leased' end as state
      from memory.memories`;
      const states = new Map(rows.map(({ text, state }) => [text, state]));
      expect(states.get(await held.promise)).toBe('leased');
      expect([...states.values()].toSorted()).toEqual(['leased', 'returned', 'waits']);
    } finally {
      release.resolve();
      await change;
    }
  },
);
