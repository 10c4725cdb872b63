import { expect, test } from 'vitest';
import { createContentFetcher } from './content-fetcher.ts';
import { contentSources } from './content-sources.ts';

test.each(['s3://docs/a.json', 'S3://docs/a.json'])('the address %s is an address of S3', async (uri) => {
  await using fetcher = createContentFetcher({ sources: () => contentSources.parse({}) });
  const fetched = fetcher.fetch({ tenant: 'acme', collectionId: 'c' }, uri, {
    maxBytes: 1,
    signal: new AbortController().signal,
  });
  await expect(fetched).rejects.toThrow('names no object below a folder that is approved for the tenant');
});
