import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { recordedChangesSuite } from '#relations/testing/recorded-changes-suite';
import type { Database } from '#sql/connect';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { recordingRetrieval } from '../../dataplane/retrieval/testing/recording-retrieval.ts';
import { recordingManagement } from '../../operator/management/testing/recording-management.ts';
import { missingOpenFga, type OpenFgaServer, onOpenFga, startOpenFga } from './openfga-server.ts';

const isMissing = missingOpenFga !== undefined || missingPostgres !== undefined;

describe.skipIf(isMissing)(onPostgres(onOpenFga('recorded changes of rights in OpenFGA')), () => {
  let server: OpenFgaServer;
  beforeAll(async () => {
    server = await startOpenFga();
  });
  afterAll(() => server?.end());

  const open = async (database: Database) => {
    const stores = await openStoreRegistry(database);
    return openOpenFgaRelations({ url: server.url, storeName: randomUUID(), stores });
  };
  recordedChangesSuite(recordingManagement, open);
  recordedChangesSuite(recordingRetrieval, open);
});
