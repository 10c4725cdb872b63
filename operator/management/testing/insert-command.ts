import { v7 as uuid } from 'uuid';
import { commandFingerprint } from '#api/run-idempotent';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import type { Database } from '#sql/connect';
import { definitionOf } from '../../testing/objects.ts';
import { newPolicySpec, policyObjectName } from '../policies/make-policy.ts';

/** A POST of a policy with the row that a killed process leaves. */
export type LeftCommand = {
  readonly operationId: string;
  readonly policyId: string;
  readonly key: string;
  readonly body: { readonly name: string; readonly definition: ReturnType<typeof definitionOf> };
};

type RowOptions = {
  readonly subject: string;
  readonly createdAt: Date;
  /** End of the lease of the command; when absent, the lease has already expired. */
  readonly leasedUntil?: Date;
  readonly state?: 'pending' | 'succeeded';
  readonly updatedAt?: Date;
};

export function leftCommand(name = 'left'): LeftCommand {
  const body = { name, definition: definitionOf(name) };
  return { operationId: uuid(), policyId: uuid(), key: `key-${uuid()}`, body };
}

/** Writes the operation and its key. */
export async function insertCommand({ sql }: Database, command: LeftCommand, options: RowOptions): Promise<void> {
  const { operationId, policyId, key, body } = command;
  const { subject, createdAt, leasedUntil = new Date(0), state = 'pending', updatedAt = createdAt } = options;
  const hasEnded = state === 'succeeded';
  const spec = newPolicySpec({ description: '', ...body }, operationId);
  const write = JSON.stringify({ type: 'create_policy', objectName: policyObjectName(policyId), spec });
  const fingerprint = commandFingerprint('POST', '/api/v1/guardrail-policies', sha256Hex(canonicalBytes(body)));
  await sql`
    insert into management.operations
      (operation_id, kind, state, target_type, target_id, trace_id, write, accepted, result,
       leased_until, created_at, updated_at)
    values (${operationId}, 'policy.create', ${state}, 'policy', ${policyId}, ${'0'.repeat(32)},
      ${hasEnded ? null : write}, ${hasEnded}, ${hasEnded ? JSON.stringify({ policyId, revision: 1 }) : null},
      ${leasedUntil}, ${createdAt}, ${updatedAt})`;
  await sql`
    insert into management.idempotency_keys (subject, key, fingerprint, operation_id, created_at)
    values (${subject}, ${key}, ${fingerprint}, ${operationId}, ${createdAt})`;
}
