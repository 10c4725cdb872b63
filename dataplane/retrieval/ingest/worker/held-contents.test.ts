import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import type { DocumentGuard } from '../ports.ts';
import { openIngest } from '../testing/open-ingest.ts';

const mebibyte = 1_048_576;

/** Bytes of the heap that are in use. */
function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test.skipIf(missingPostgres !== undefined)(
  onPostgres('a worker that judges two documents of 60 MiB at once does not hold their parsed JSON'),
  async () => {
    await using opened = await openTestDatabase();
    // Pages that do not match the sections are ignored, so that the text is short.
    const pages = Array.from({ length: 700_000 }, (_, at) => `${at}`.padStart(80, 'p'));
    const stored = Buffer.from(JSON.stringify({ content: { sections: [{ text: 'A harbour.' }], pages } }));
    pages.length = 0;
    expect(stored.length).toBeGreaterThan(55 * mebibyte);
    expect(stored.length).toBeLessThan(64 * mebibyte);
    const used: number[] = [];
    const both = Promise.withResolvers<void>();
    const guard: DocumentGuard = {
      async check(_scope, texts) {
        used.push(usedHeap());
        if (used.length === 2) both.resolve();
        await both.promise;
        return { kind: 'passed', texts, policyRevision: '1' };
      },
    };
    const ingest = await openIngest(opened.database, { fetcher: { fetch: async () => stored }, guard });
    const contentHash = createHash('sha256').update(stored).digest('hex');
    const ref = { uri: 'https://files.example/a', contentHash };
    await ingest.submit({ docId: 'a', ref }, { docId: 'b', ref });
    const before = usedHeap();
    expect(await Promise.all([ingest.work(), ingest.work()])).toEqual(['done', 'done']);
    // After parsing, the pages of one document have more than 60 MiB.
    for (const heap of used) expect(heap - before).toBeLessThan(32 * mebibyte);
  },
);
