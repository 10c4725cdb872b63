import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { estimateIndexBytes } from '../submit/check-index-room.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { testProfile } from '../testing/scripted-models.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the room for the text of a document'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  const bounds: { tenantBytes: number; indexBytes: number | undefined } = { tenantBytes: 0, indexBytes: undefined };
  const texts = new Map<string, string>();
  let embedded = 0;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await opened.database.sql`drop schema if exists retrieval cascade`;
    Object.assign(bounds, { tenantBytes: Number.POSITIVE_INFINITY, indexBytes: undefined });
    ingest = await openIngest(opened.database, {
      bounds,
      fetcher: { fetch: async (_scope, uri) => contentOf(texts.get(uri) ?? '') },
      onStep(step) {
        if (step === 'embedded') embedded += 1;
      },
    });
  });

  const contentOf = (text: string) => Buffer.from(JSON.stringify({ content: { sections: [{ text }] } }));
  const collection = async () => {
    const [row] = await opened.database.sql<{ bytes: number; chunks: number }[]>`
      select text_bytes::float8 as bytes, chunk_count as chunks from retrieval.collections`;
    return row ?? { bytes: 0, chunks: 0 };
  };

  /** Processes a document with a content_ref whose size the submit does not state; returns the end of its job. */
  async function endOf(docId: string, text: string): Promise<unknown> {
    const uri = `https://files.example/${docId}`;
    texts.set(uri, text);
    embedded = 0;
    const contentHash = createHash('sha256').update(contentOf(text)).digest('hex');
    const [job] = await ingest.submit({ docId, ref: { uri, contentHash } });
    await ingest.drain();
    const [row] = await opened.database.sql<{ status: string; code: string | null }[]>`
      select status, failure_code as code from retrieval.jobs where job_id = ${job?.jobId ?? ''}`;
    if (row?.status === 'FAILED') expect(embedded).toBe(0);
    return row?.code ?? row?.status;
  }

  test('a text behind a content_ref that fills the quota of its tenant is stored; one byte more is FAILED, and is not embedded', async () => {
    expect(await endOf('a', 'x'.repeat(1_000))).toBe('DONE');
    const { bytes } = await collection();
    bounds.tenantBytes = bytes * 2;
    expect(await endOf('b', 'y'.repeat(1_001))).toBe('tenant_full');
    expect(await endOf('b', 'y'.repeat(1_000))).toBe('DONE');
    expect((await collection()).bytes).toBe(bounds.tenantBytes);
    // The replaced text does not count, and a shorter text is always stored.
    expect(await endOf('b', 'z'.repeat(1_001))).toBe('tenant_full');
    expect(await endOf('b', 'z'.repeat(1_000))).toBe('DONE');
    bounds.tenantBytes = 1;
    expect(await endOf('b', 'z'.repeat(999))).toBe('DONE');
    expect(await endOf('c', '')).toBe('tenant_full');
  });

  test('a text behind a content_ref that fills the index is stored; one that exceeds it is FAILED, and is not embedded', async () => {
    expect(await endOf('a', 'x'.repeat(1_000))).toBe('DONE');
    const { bytes, chunks } = await collection();
    const step = 160;
    const needed = (more: number) =>
      estimateIndexBytes({ chunks: chunks + Math.ceil(more / step), textBytes: bytes + more }, testProfile.dimension);
    bounds.indexBytes = needed(502);
    expect(await endOf('b', 'y'.repeat(501))).toBe('index_full');
    expect(await endOf('b', 'y'.repeat(500))).toBe('DONE');
    bounds.indexBytes = 1;
    expect(await endOf('b', 'y'.repeat(400))).toBe('DONE');
    bounds.indexBytes = undefined;
    expect(await endOf('c', 'x'.repeat(10_000))).toBe('DONE');
  });

  test('the room of a Cyrillic text is estimated by the number of its characters, and not of its bytes', async () => {
    expect(await endOf('a', 'x'.repeat(1_000))).toBe('DONE');
    const { bytes, chunks } = await collection();
    const needed = estimateIndexBytes({ chunks: chunks + 4, textBytes: bytes + 1_002 }, testProfile.dimension);
    bounds.indexBytes = needed - 1;
    expect(await endOf('b', 'ж'.repeat(500))).toBe('index_full');
    bounds.indexBytes = needed;
    expect(await endOf('c', 'ж'.repeat(500))).toBe('DONE');
  });
});
