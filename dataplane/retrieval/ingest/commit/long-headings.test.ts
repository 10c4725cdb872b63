import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countTokens } from '#models/count-tokens';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { scriptedModels, testProfile } from '../testing/scripted-models.ts';

type Stored = { readonly heading: string | null; readonly text: string; readonly terms: string };

describe.skipIf(missingPostgres !== undefined)(onPostgres('long titles and headings'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let content: object;
  let passages: string[];
  let maxTokens: number;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    passages = [];
    maxTokens = testProfile.maxTokens;
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database, {
      models: scriptedModels((texts) => void passages.push(...texts)),
      profileOf: (id) => ({ ...testProfile, id, maxTokens }),
      fetcher: { fetch: async () => Buffer.from(JSON.stringify({ content })) },
    });
  });

  const index = async (document: object): Promise<readonly Stored[]> => {
    content = document;
    const contentHash = createHash('sha256').update(JSON.stringify({ content })).digest('hex');
    await ingest.submit({ docId: 'a', ref: { uri: 's3://b/a', contentHash } });
    expect(await ingest.work()).toBe('done');
    return opened.database.sql<Stored[]>`select heading, text, terms from retrieval.chunks order by no`;
  };
  const words = (count: number, word: string): string =>
    Array.from({ length: count }, (_, at) => `${word}${at}`).join(' ');

  test('a chunk contains 256 units of its heading, and every word of a longer one is found in the text', async () => {
    const heading = `${'h'.repeat(254)} h`;
    const [exact] = await index({ sections: [{ heading, text: 'The end.' }] });
    expect(exact?.heading).toBe(heading);
    await opened.database.sql`update retrieval.documents set live_seq = 0`;
    const long = words(40_000, 'heading');
    const chunks = await index({ sections: [{ heading: long, text: 'The end.' }] });
    const text = `${long}\nThe end.`;
    expect(chunks.length).toBeLessThan(text.length / (200 - 40 - 20));
    for (const chunk of chunks) expect(chunk.heading?.length).toBeLessThanOrEqual(256);
    expect(Math.max(...passages.map((passage) => passage.length))).toBeLessThanOrEqual(256 + 1 + 200);
    expect(chunks.some(({ terms }) => terms.split(' ').includes('heading39999'))).toBe(true);
  });

  test('a title of 256 units is stored completely and not as text; a longer title is stored in part, and as text as well', async () => {
    const title = `${'t'.repeat(254)} t`;
    const exact = await index({ title, sections: [{ text: 'The end.' }] });
    expect(exact.map(({ text }) => text)).toEqual(['The end.']);
    expect(passages).toEqual([`${title}\nThe end.`]);
    await opened.database.sql`delete from retrieval.chunks`;
    const long = await index({ title: words(1_000, 'title'), sections: [{ text: 'The end.' }] });
    expect(long.at(-1)?.text).toBe('The end.');
    expect(long.some(({ terms }) => terms.split(' ').includes('title999'))).toBe(true);
    expect(Math.max(...passages.slice(1).map((passage) => passage.length))).toBeLessThanOrEqual(256 + 1 + 200);
  });

  test('title and heading use at most a quarter of the tokens that a model accepts', async () => {
    maxTokens = 120;
    // Each of these letters has several tokens.
    const rare = '𐎀𐎁𐎂𐎃'.repeat(60);
    const chunks = await index({ title: rare, sections: [{ heading: rare, text: words(60, 'word') }] });
    for (const passage of passages) expect(countTokens(passage)).toBeLessThanOrEqual(maxTokens);
    expect(chunks.length).toBeLessThan(40);
  });
});
