import { type ChangeAuthor, changeEntry } from '#audit/change-entry';
import type { AuditContent } from '#contracts/audit';
import type { Logger } from '#kit/log/logger';
import type { RecordPorts } from '#relations/changes/left-changes';
import { createRecordedChanges, type RecordedChanges } from '#relations/changes/recorded-changes';
import type { Tuple } from '#relations/ports';
import { tupleText } from '#relations/tuple';
import { rightsLock } from './lock-rights.ts';

/** Changes of rights to the control plane, to policies and to models, one at a time over all replicas, each with its entry. */
export function createRightsRecord(ports: RecordPorts, logger: Pick<Logger, 'error'>): RecordedChanges {
  return createRecordedChanges(ports, {
    table: 'management.right_changes',
    lockOf: () => rightsLock,
    failureCode: 'authorization_unavailable',
    onUnreadable: (change) => logger.error('right_change_unreadable', { change }),
  });
}

/** The entry of a change of a right that took effect. */
export function rightEntry(action: 'grant' | 'revoke', tuple: Tuple, by: ChangeAuthor, now: Date): AuditContent {
  const target = { type: 'control_plane', id: tupleText(tuple) } as const;
  return changeEntry({ action: `administrator.${action}`, target }, by, now);
}
