import type { OperationKind, OperationResource, OperationResult, OperationState } from '#contracts/management';
import { type OperationFailureCode, operationFailures } from '#contracts/management-errors';
import type { GuardrailPolicySpec } from '#resources/guardrail-policy';
import type { ModelBindingSpec } from '#resources/model-binding';

/** What a command writes: enough to send the identical conditional write once more. */
export type CommandWrite =
  | { readonly type: 'create_policy'; readonly objectName: string; readonly spec: GuardrailPolicySpec }
  | {
      readonly type: 'replace_policy';
      readonly objectName: string;
      readonly uid: string;
      /** The generation that the object must have when the write arrives. */
      readonly generation: number;
      readonly spec: GuardrailPolicySpec;
    }
  | {
      readonly type: 'write_binding';
      readonly objectName: string;
      readonly uid: string;
      readonly generation: number;
      readonly guardrail: ModelBindingSpec['guardrail'];
      readonly contentProfile: string;
      /** The policy by its id; null for an unbind. */
      readonly policyId: string | null;
    };

export type Target = { readonly type: 'policy' | 'model'; readonly id: string };

/** The object and generation that the write made. */
export type Written = { readonly uid: string; readonly generation: number };

export type OperationFailure = {
  readonly code: OperationFailureCode;
  readonly message: string;
};

/** A command as its row says it. */
export type Operation = {
  readonly operationId: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly target: Target;
  readonly traceId: string;
  /** Whether the write is known to have been made; a 202 was or will be answered. */
  readonly accepted: boolean;
  readonly written: Written | undefined;
  readonly result: OperationResult | undefined;
  readonly failure: OperationFailure | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** An operation with what it writes; an ended one may have forgotten it. */
export type OpenOperation = Operation & { readonly write: CommandWrite };

export type OperationEnd =
  | { readonly kind: 'succeeded'; readonly result: OperationResult }
  | ({ readonly kind: 'failed' } & OperationFailure);

/** The end with a code of the table; the note is a fact of this operation, never a text of a user. */
export function failedWith(code: OperationFailureCode, note?: string): OperationEnd {
  const message = note === undefined ? operationFailures[code] : `${operationFailures[code]} ${note}`;
  return { kind: 'failed', code, message };
}

/** The representation of an operation (DESIGN section 10). */
export function operationResource(operation: Operation): OperationResource {
  const { operationId, kind, state, target, traceId, result, failure, createdAt, updatedAt } = operation;
  return {
    operationId,
    kind,
    state,
    target,
    result: result ?? null,
    error: failure === undefined ? null : { ...failure, traceId },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/**
 * The body of every 202 of one command: the operation as it was accepted, so that each repetition gets the same bytes
 * whatever happened since.
 */
export function acceptedResource(operation: Operation): OperationResource {
  const { createdAt } = operation;
  return operationResource({
    ...operation,
    state: 'pending',
    result: undefined,
    failure: undefined,
    updatedAt: createdAt,
  });
}
