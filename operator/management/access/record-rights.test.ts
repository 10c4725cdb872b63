import { describe } from 'vitest';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { joinedChangesSuite, recordedChangesSuite } from '#relations/testing/recorded-changes-suite';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { recordingManagement } from '../testing/recording-management.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('recorded changes of the management API'), () => {
  joinedChangesSuite(recordingManagement, openPostgresRelations);
  recordedChangesSuite(recordingManagement, openPostgresRelations);
});
