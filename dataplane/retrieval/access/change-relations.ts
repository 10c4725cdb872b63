import type { AuditLog } from '#audit/ports';
import type { Logger } from '#kit/log/logger';
import { createRecordedChanges, type RecordedChanges } from '#relations/changes/recorded-changes';
import type { Relations } from '#relations/ports';
import type { Database } from '#sql/connect';

export type ChangePorts = {
  readonly database: Database;
  readonly relations: Relations;
  readonly audit: Pick<AuditLog, 'append'>;
};

/** Makes changes of the relations of collections and groups, one at a time per object, each with its audit entry. */
export function createRelationChanges(ports: ChangePorts, logger: Pick<Logger, 'error'>): RecordedChanges {
  return createRecordedChanges(ports, {
    table: 'retrieval.relation_changes',
    lockOf: (object) => `retrieval relations of ${object}`,
    failureCode: 'authz_unavailable',
    onUnreadable: (change) => logger.error('relation_change_unreadable', { change }),
  });
}
