import type { OperationKind, OperationResource, OperationResult, OperationState } from '#contracts/management';
import { type OperationFailureCode, operationFailures } from '#contracts/management-errors';
import { sentence } from '#diagnosis/sentence';
import type { ChangeNote } from '#resources/change-note';
import type { GuardrailPolicySpec } from '#resources/guardrail-policy';
import type { ModelBindingSpec } from '#resources/model-binding';
import type { CommandOrigin } from './command-origin.ts';

/** The author and the reason of a write; absent in rows of earlier versions. */
type NotedWrite = { readonly note?: ChangeNote };

/** The write of a command, complete enough to send the identical conditional write again. */
export type CommandWrite = NotedWrite &
  (
    | { readonly type: 'create_policy'; readonly objectName: string; readonly spec: GuardrailPolicySpec }
    | {
        readonly type: 'replace_policy';
        readonly objectName: string;
        readonly uid: string;
        /** The generation that the object must have when the write arrives. */
        readonly generation: number;
        readonly spec: GuardrailPolicySpec;
        /** The deletionTimestamp of the deletion that the write cancels; absent if the write cancels none. */
        readonly keep?: string;
      }
    | {
        readonly type: 'write_binding';
        readonly objectName: string;
        readonly uid: string;
        readonly generation: number;
        readonly guardrail: ModelBindingSpec['guardrail'];
        readonly contentProfile: string;
        /** The id of the policy to bind; null to unbind. */
        readonly policyId: string | null;
      }
  );

export type CommandTarget = { readonly type: 'policy' | 'model'; readonly id: string };

/** The object and generation that a write created. */
export type WrittenGeneration = { readonly uid: string; readonly generation: number };

type OperationFailure = {
  readonly code: OperationFailureCode;
  readonly message: string;
  /** The condition message of the failed application; undefined for any other failure. */
  readonly cause?: string | undefined;
};

/** A command as it is stored in its row. */
export type CommandRecord = {
  readonly operationId: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly target: CommandTarget;
  readonly traceId: string;
  readonly origin: CommandOrigin;
  /** Whether the write of the command is known to have succeeded, so that the answer is 202. */
  readonly accepted: boolean;
  /** Whether the command takes effect although a freeze window was in force when it was stored. */
  readonly overridesFreeze: boolean;
  readonly written: WrittenGeneration | undefined;
  readonly result: OperationResult | undefined;
  readonly failure: OperationFailure | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A command with its write, which is removed when the operation ends. */
export type OpenCommandRecord = CommandRecord & { readonly write: CommandWrite };

export type OperationEnd =
  | { readonly kind: 'succeeded'; readonly result: OperationResult }
  | ({ readonly kind: 'failed' } & OperationFailure);

/** The end of an application that the operator has stopped trying to apply. */
export function failedApplication(code: OperationFailureCode, cause: string | undefined): OperationEnd {
  return { kind: 'failed', code, message: operationFailures[code], cause };
}

/** The note is a fact of this operation, never a text of a user. */
export function failedWith(code: OperationFailureCode, note?: string): OperationEnd {
  const message = note === undefined ? operationFailures[code] : `${operationFailures[code]} ${note}`;
  return { kind: 'failed', code, message };
}

/** The representation of an operation (management:operation-get:status). */
export function operationResource(record: CommandRecord): OperationResource {
  const { operationId, kind, state, target, traceId, result, failure, createdAt, updatedAt } = record;
  return {
    operationId,
    kind,
    state,
    target,
    result: result ?? null,
    error: failure === undefined ? null : errorOf(failure, traceId),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function errorOf({ code, message, cause }: OperationFailure, traceId: string): OperationResource['error'] {
  return { code, message, cause: cause === undefined ? null : sentence(cause), traceId };
}

/**
 * The body of every 202 response to one command: the operation as it was accepted, so that each repeated request gets
 * the same bytes (management:idempotency-key:repeat-same).
 */
export function acceptedResource(record: CommandRecord): OperationResource {
  const { createdAt } = record;
  return operationResource({
    ...record,
    state: 'pending',
    result: undefined,
    failure: undefined,
    updatedAt: createdAt,
  });
}
