import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { openIngest } from '../testing/open-ingest.ts';

const mebibyte = 1_048_576;

/** Bytes of the heap that are in use. */
function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test.skipIf(missingPostgres !== undefined)(
  onPostgres('a worker that cuts a document into 40,000 chunks does not hold them'),
  async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const line = 'я'.repeat(256);
    const section = { heading: line, text: 'word '.repeat((2 * mebibyte) / 5) };
    const stored = Buffer.from(JSON.stringify({ content: { title: line, sections: [section] } }));
    const used = new Map<string, number>();
    const ingest = await openIngest(opened.database, {
      fetcher: { fetch: async () => stored },
      countTokens: (text) => text.length / 4,
      onStep(step) {
        used.set(step, usedHeap());
        if (step === 'embedded') throw new Error('the rest is not needed');
      },
    });
    await sql`update retrieval.collections set chunk_size = 100, chunk_overlap = 50`;
    const contentHash = createHash('sha256').update(stored).digest('hex');
    await ingest.submit({ docId: 'a', ref: { uri: 'https://files.example/a', contentHash } });
    expect(await ingest.work()).toBe('abandoned');
    // With title and heading, all chunks together have more than 40 MiB.
    for (const step of ['chunked', 'embedded']) {
      expect((used.get(step) ?? Number.NaN) - (used.get('guarded') ?? 0)).toBeLessThan(8 * mebibyte);
    }
  },
);
