import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { DocumentFault } from '../faults.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';

const mebibyte = 1_048_576;
/** Values of the document below without the padding: objects, lists and strings. */
const ownValues = 6;

type JobEnd = { readonly status: string; readonly code: string | null; readonly failure: string | null };

describe.skipIf(missingPostgres !== undefined)(onPostgres('content behind a content_ref'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let stored: Uint8Array = new Uint8Array();

  beforeAll(async () => {
    opened = await openTestDatabase();
    ingest = await openIngest(opened.database, {
      fetcher: {
        async fetch(_scope, _uri, { maxBytes }) {
          if (stored.length > maxBytes) throw new DocumentFault('too_large', `more than ${maxBytes} bytes`);
          return stored;
        },
      },
    });
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  async function endOf(text: string): Promise<JobEnd | undefined> {
    stored = Buffer.from(text);
    const contentHash = createHash('sha256').update(stored).digest('hex');
    const [job] = await ingest.submit({ docId: 'a', ref: { uri: 'https://files.example/a', contentHash } });
    await ingest.drain();
    const [row] = await opened.database.sql<JobEnd[]>`
      select status, failure_code as code, failure from retrieval.jobs where job_id = ${job?.jobId ?? ''}`;
    return row;
  }

  test('content of 64 MiB behind a content_ref is stored, and the job of one byte more ends FAILED', async () => {
    const document = '{"content":{"sections":[{"text":"A harbour."}]}}';
    expect(await endOf(document.padEnd(64 * mebibyte))).toMatchObject({ status: 'DONE', code: null });
    expect(await endOf(document.padEnd(64 * mebibyte + 1))).toMatchObject({ status: 'FAILED', code: 'too_large' });
  });

  test('content of 1,000,000 values behind a content_ref is stored, and the job of one value more ends FAILED', async () => {
    const document = (values: number) => {
      const padding = Array.from({ length: values - ownValues }, () => 0).join();
      return `{"content":{"sections":[{"text":"A harbour."}],"note":[${padding}]}}`;
    };
    expect(await endOf(document(1_000_000))).toMatchObject({ status: 'DONE', code: null });
    expect(await endOf(document(1_000_001))).toMatchObject({ status: 'FAILED', code: 'malformed' });
  });

  test('a small table behind a content_ref whose text would have 3 GB ends FAILED with the place, and the next job is processed', async () => {
    const rows = Array.from({ length: 50_000 }, () => '[1]').join();
    const table = `{"content":{"tables":[{},{"headers":["${'h'.repeat(65_536)}"],"rows":[${rows}]}]}}`;
    expect(await endOf(table)).toEqual({
      status: 'FAILED',
      code: 'too_large',
      failure: 'content/tables/1 makes the text longer than 16777216 characters: divide the document',
    });
    expect(await endOf('{"content":{"sections":[{"text":"A harbour."}]}}')).toMatchObject({ status: 'DONE' });
  });
});
