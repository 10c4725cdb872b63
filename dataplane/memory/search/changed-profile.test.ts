import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('an embedding profile that changes while a process runs'),
  () => {
    const parts = new AsyncDisposableStack();
    let memory: OpenedMemory;
    let modelsFile = '';

    const approve = (...profiles: readonly object[]) => writeFile(modelsFile, JSON.stringify({ embedding: profiles }));
    const words = { id: 'words', model: 'words', dimension: 64 };

    beforeAll(async () => {
      modelsFile = join(parts.use(temporaryFolder()).path, 'models.yaml');
      await approve(words);
      const plain = hashedWords();
      // The second model returns other vectors than the first model for the same words.
      const embed: typeof plain.embed = async (profile, ...rest) => {
        const vectors = await plain.embed(profile, ...rest);
        return profile.model === 'words' ? vectors : vectors.map((vector) => vector.toReversed());
      };
      memory = parts.use(await openMemory({ overrides: { models: { ...plain, embed } }, config: { modelsFile } }));
    });
    afterAll(() => parts.disposeAsync());

    const search = (user: object, more: object = {}) =>
      memory.call(user, 'POST', '/v1/memories/search', { query: 'I like chess', top_k: 1, ...more });
    const keysOf = async () => {
      const rows = await memory.database.database.sql<{ profile_id: string | null }[]>`
      select distinct profile_id from memory.memories`;
      return rows.map(({ profile_id: key }) => key);
    };
    /** The vectors of all memories are made again for a changed profile. */
    const renewed = async (before: readonly unknown[]) =>
      until('all memories are embedded again', async () => {
        const keys = await keysOf();
        return keys.length === 1 && keys[0] !== null && !before.includes(keys[0]);
      });
    const best = ({ json }: { readonly json: Readonly<Record<string, unknown>> }) =>
      (json['results'] as readonly { memory: string; score_details: { semantic: number } }[])[0];

    test('after a profile is withdrawn and approved again, memories that were loaded meanwhile are found by meaning', async () => {
      const user = { user: 'again' };
      await memory.say(user, 'I like chess.');
      await approve();
      await until('the profile is withdrawn', async () => (await search(user)).status === 503);
      expect(await memory.find(user, 'chess', { mode: 'bm25' })).toEqual(['I like chess']);
      await approve(words);
      const found = await until('the profile is approved', async () => {
        const answer = await search(user, { mode: 'semantic' });
        return answer.status === 200 ? answer : undefined;
      });
      expect(best(found)).toMatchObject({ memory: 'I like chess', score_details: { semantic: expect.closeTo(1, 1) } });
    });

    test('with another model under the same id, each memory is embedded again and compared with queries of that model only', async () => {
      const user = { user: 'model' };
      await memory.say(user, 'I like chess.', 'I live in Rome.');
      expect(best(await search(user))?.score_details.semantic).toBeCloseTo(1, 1);
      const before = await keysOf();
      await approve({ ...words, model: 'other' });
      await renewed(before);
      const found = await search(user, { mode: 'semantic' });
      expect(best(found)).toMatchObject({ memory: 'I like chess', score_details: { semantic: expect.closeTo(1, 1) } });
    });

    test('with another dimension under the same id, searches and adds are answered, and each memory is embedded again', async () => {
      const user = { user: 'dimension' };
      await memory.say(user, 'I like chess.');
      expect((await search(user)).status).toBe(200);
      const before = await keysOf();
      await approve({ ...words, dimension: 32 });
      const isEmbedded = async () => {
        for (const mode of ['hybrid', 'semantic', 'bm25']) expect((await search(user, { mode })).status).toBe(200);
        expect(await memory.say(user, 'I like chess.')).toMatchObject({ status: 'SUCCEEDED' });
        const keys = await keysOf();
        return keys.length === 1 && !before.includes(keys[0] as string);
      };
      await until('all memories are embedded again', isEmbedded);
      const found = await search(user, { mode: 'semantic' });
      expect(best(found)).toMatchObject({ memory: 'I like chess', score_details: { semantic: expect.closeTo(1, 1) } });
    });
  },
);
