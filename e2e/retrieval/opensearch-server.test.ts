import { describe, expect, test } from 'vitest';
import { missingOpenSearch, onOpenSearch, startOpenSearch } from './opensearch-server.ts';

describe.skipIf(missingOpenSearch !== undefined)(onOpenSearch('an OpenSearch server of the tests'), () => {
  test('a killed OpenSearch server keeps its data, and no longer runs after disposal', async () => {
    let url: URL;
    {
      await using server = await startOpenSearch();
      url = server.url;
      const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
      await fetch(new URL('/one/_doc/1', url), put);
      await server.kill();
      await expect(fetch(url)).rejects.toThrow();
      await server.start();
      expect(await (await fetch(new URL('/one/_source/1', url))).json()).toEqual({ a: 1 });
    }
    await expect(fetch(url)).rejects.toThrow();
  });
});
