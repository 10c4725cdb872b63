import type { AuditContent } from '#contracts/audit';

/** The author of a change, and the request that made it. */
export type ChangeAuthor = Pick<AuditContent, 'author' | 'client' | 'traceId'>;

type Change = Pick<AuditContent, 'action' | 'target'> &
  Partial<Pick<AuditContent, 'operationId' | 'before' | 'after' | 'window'>>;

/** The audit entry of a change that took effect. */
export function changeEntry(change: Change, { author, client, traceId }: ChangeAuthor, now: Date): AuditContent {
  return {
    time: now.toISOString(),
    outcome: 'accepted',
    code: null,
    author,
    client,
    traceId,
    operationId: null,
    before: null,
    after: null,
    count: 1,
    since: null,
    ...change,
  };
}
