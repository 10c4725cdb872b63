import { afterAll, beforeAll, describe } from 'vitest';
import { searchIndexSuite } from '#search/testing/search-index-suite';
import { missingOpenSearch, type OpenSearchServer, onOpenSearch, startOpenSearch } from './opensearch-server.ts';
import { openOpenSearchWorld } from './opensearch-world.ts';

describe.skipIf(missingOpenSearch !== undefined)(onOpenSearch('the search index in OpenSearch'), () => {
  let server: OpenSearchServer;
  beforeAll(async () => {
    server = await startOpenSearch();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  searchIndexSuite(() => openOpenSearchWorld(server), { runs: 15 });
});
