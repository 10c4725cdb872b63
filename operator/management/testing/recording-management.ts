import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import type { AuditAuthor } from '#contracts/audit';
import { controlPlane } from '#relations/model';
import type { RecordingService } from '#relations/testing/recorded-changes-suite';
import { createRightsRecord, rightEntry } from '../access/record-rights.ts';

const author: AuditAuthor = { kind: 'token', issuer: 'http://issuer.test', subject: 'first', actors: [] };
const by = { author, client: 'loopback', traceId: null } as const;

/** The management API as a service that records its changes of rights. */
export const recordingManagement: RecordingService = {
  migrations: { schema: 'management', folder: new URL('../migrations/', import.meta.url) },
  table: 'management.right_changes',
  failureCode: 'authorization_unavailable',
  lockOf: () => 'portcullis.management.rights',
  objects: [controlPlane, 'policy:01900000-0000-7000-8000-0000000000aa'],
  relations: ['administer', 'author'],
  entryOf: (action, tuple) => rightEntry(action, tuple, by, new Date()),
  openAudit: (database) => openPostgresAudit(database, 'management'),
  create: createRightsRecord,
};
