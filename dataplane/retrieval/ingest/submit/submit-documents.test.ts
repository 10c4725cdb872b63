import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ObjectsUnavailableError } from '#objects/objects-error';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { memoryObjects } from '../testing/memory-objects.ts';
import { openIngest } from '../testing/open-ingest.ts';

test.skipIf(missingPostgres !== undefined)(
  onPostgres('a submit whose store stops answering stages no document after the failure, and the next one is accepted'),
  async () => {
    await using opened = await openTestDatabase();
    const objects = memoryObjects();
    const others = Promise.withResolvers<void>();
    let begun = 0;
    let ended = 0;
    let isStopped = true;
    const ingest = await openIngest(opened.database, {
      objects: {
        ...objects,
        async put(key, bytes) {
          begun += 1;
          if (isStopped && begun === 1) throw new ObjectsUnavailableError('unreachable');
          if (isStopped) await others.promise;
          await objects.put(key, bytes);
          ended += 1;
        },
      },
    });
    const documents = Array.from({ length: 40 }, (_, at) => ({ docId: `d${at}`, text: `text ${at}` }));
    await expect(ingest.submit(...documents)).rejects.toThrow(ObjectsUnavailableError);
    others.resolve();
    await until('the uploads that had begun have ended', () => ended === begun - 1);
    // Eight uploads run at a time.
    expect(begun).toBeLessThanOrEqual(8);
    isStopped = false;
    const entries = await ingest.submit(...documents);
    expect(entries.map(({ status }) => status)).toEqual(documents.map(() => 'PENDING'));
  },
);
