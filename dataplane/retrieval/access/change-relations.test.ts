import { describe } from 'vitest';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { joinedChangesSuite, recordedChangesSuite } from '#relations/testing/recorded-changes-suite';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { recordingRetrieval } from '../testing/recording-retrieval.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('recorded changes of retrieval'), () => {
  joinedChangesSuite(recordingRetrieval, openPostgresRelations);
  recordedChangesSuite(recordingRetrieval, openPostgresRelations);
});
