import type { TransactionSql } from '#sql/connect';
import { takeNamedLock } from '#sql/named-lock';
import type { QuotaErrorCode, Quotas } from '../../../policies/quotas.ts';
import type { NewCommand } from '../../ports.ts';

/**
 * Takes the lock of all saves that need quota, until the transaction ends, so that each save counts all earlier ones.
 */
export async function lockSaves(sql: TransactionSql): Promise<void> {
  await takeNamedLock(sql, 'portcullis.management.saves');
}

type SaveRow = {
  readonly operation_id: string;
  readonly kind: string;
  readonly target_id: string;
  readonly result: string | null;
  readonly saved_bytes: string | null;
};

/**
 * The quota that a stored save would exceed, with all other saves of every replica; under the lock of saves. A save that was
 * withdrawn or that failed has no revision and does not count.
 */
export async function exceededQuota(
  sql: TransactionSql,
  { operationId, kind, saving }: Pick<NewCommand, 'operationId' | 'kind' | 'saving'>,
  quotas: Pick<Quotas, 'exceededBy' | 'unseenMs'>,
): Promise<QuotaErrorCode | undefined> {
  if (saving === undefined || !saving.needsRoom) return undefined;
  const rows = await sql<SaveRow[]>`
    select operation_id, kind, target_id, result, saved_bytes from management.operations
    where target_type = 'policy' and operation_id <> ${operationId}
      and (state in ('pending', 'running')
        or (state = 'succeeded' and updated_at > clock_timestamp() - ${quotas.unseenMs()} * interval '1 millisecond'))`;
  const recorded = rows.map((row) => ({
    operationId: row.operation_id,
    policyId: row.target_id,
    isNewPolicy: row.kind === 'policy.create',
    bytes: Number(row.saved_bytes ?? 0),
    revision: row.result === null ? undefined : (JSON.parse(row.result) as { readonly revision: number }).revision,
  }));
  return quotas.exceededBy({ isNewPolicy: kind === 'policy.create', bytes: saving.bytes }, recorded);
}
