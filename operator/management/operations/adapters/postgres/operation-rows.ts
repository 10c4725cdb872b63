import type { OperationKind, OperationResult, OperationState } from '#contracts/management';
import type { OperationFailureCode } from '#contracts/management-errors';
import type { Database } from '#sql/connect';
import { type CommandOrigin, originOfKey } from '../../command-origin.ts';
import type { CommandRecord, CommandWrite, OpenCommandRecord } from '../../command-record.ts';

/** A row of management.operations without its write. */
export type OperationRow = {
  readonly operation_id: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly target_type: 'policy' | 'model';
  readonly target_id: string;
  readonly trace_id: string;
  /** The origin of the command; null in rows of earlier versions. */
  readonly origin: string | null;
  /** The subject that the idempotency key belongs to; null when the key was deleted. */
  readonly key_owner: string | null;
  readonly accepted: boolean;
  readonly overrides_freeze: boolean;
  readonly written_uid: string | null;
  /** The driver returns bigint as text. */
  readonly written_generation: string | null;
  readonly result: string | null;
  readonly failure_code: OperationFailureCode | null;
  readonly failure_message: string | null;
  /** The cause of the failure; null in rows of earlier versions. */
  readonly failure_cause: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};
export type OpenOperationRow = OperationRow & { readonly write: string };

/** The columns of an operation without its write. */
export function operationColumns(sql: Database['sql']) {
  return sql`operations.operation_id, kind, state, target_type, target_id, trace_id, origin, accepted, overrides_freeze,
    written_uid, written_generation, result, failure_code, failure_message, failure_cause,
    operations.created_at, updated_at,
    (select subject from management.idempotency_keys k where k.operation_id = operations.operation_id) as key_owner`;
}

export function operationOfRow(row: OperationRow): CommandRecord {
  const { written_uid: uid, written_generation: generation, failure_code: code } = row;
  return {
    operationId: row.operation_id,
    kind: row.kind,
    state: row.state,
    target: { type: row.target_type, id: row.target_id },
    traceId: row.trace_id,
    origin: row.origin === null ? originOfKey(row.key_owner) : (JSON.parse(row.origin) as CommandOrigin),
    accepted: row.accepted,
    overridesFreeze: row.overrides_freeze,
    written: uid === null || generation === null ? undefined : { uid, generation: Number(generation) },
    result: row.result === null ? undefined : (JSON.parse(row.result) as OperationResult),
    failure:
      code === null ? undefined : { code, message: row.failure_message ?? '', cause: row.failure_cause ?? undefined },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The rows that can be read. @param onUnreadable is called with the operation id of each row that cannot be read */
export function readableRows(
  rows: readonly OpenOperationRow[],
  onUnreadable: (operationId: string) => void,
): readonly OpenCommandRecord[] {
  return rows.flatMap((row) => {
    try {
      return [openOperationOfRow(row)];
    } catch {
      onUnreadable(row.operation_id);
      return [];
    }
  });
}

export function openOperationOfRow(row: OpenOperationRow): OpenCommandRecord {
  return { ...operationOfRow(row), write: JSON.parse(row.write) as CommandWrite };
}
