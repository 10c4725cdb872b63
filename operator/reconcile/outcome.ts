import { FileWriteError } from '#kit/files/write-atomic';
import { isKubeError, type KubeErrorCode } from '#kube/client/kube-error';
import { NotLeaderError } from '#kube/election/fenced-client';

/** How a pass over one object ended. */
export type PassOutcome =
  /** The pass is complete; there is nothing to do until the next trigger. */
  | { readonly kind: 'settled' }
  /** The next change depends on time only. */
  | { readonly kind: 'waiting'; readonly afterMs: number }
  /** Another writer changed the object first, so that the pass decided on a stale state. */
  | { readonly kind: 'raced' }
  /** A technical fault that the object did not cause. */
  | { readonly kind: 'broken'; readonly reason: BrokenReason; readonly message: string };

type BrokenReason =
  | 'StorageFull'
  | 'StorageDenied'
  | 'ServerUnavailable'
  | 'Refused'
  | 'JudgeUnavailable'
  | 'JudgeTimeout'
  | 'CredentialMissing'
  | 'WorkloadUnavailable'
  | 'RetrievalUnavailable'
  | 'CheckUnavailable'
  | 'Unexpected';

/** A technical fault with the reason that its adapter gives. */
export class BrokenError extends Error {
  readonly code: BrokenReason;

  constructor(code: BrokenReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BrokenError';
    this.code = code;
  }
}

export type Consequence = {
  readonly result: 'success' | 'requeue_after' | 'requeue' | 'error';
  /** Milliseconds until the next pass; absent if a trigger or the backoff of the queue decides. */
  readonly afterMs?: number;
  /** Whether the queue retries the object with a backoff. */
  readonly backoff: boolean;
  /** Reason and message for a condition, if the object has conditions. */
  readonly condition?: { readonly reason: BrokenReason; readonly message: string };
};

/**
 * Pause before the object is queued again, milliseconds; normally a watch delivers the write of the other writer
 * earlier.
 */
const raceMs = 250;

/** The consequences of a pass: result for metrics, next pass, condition. */
export function consequenceOf(outcome: PassOutcome): Consequence {
  switch (outcome.kind) {
    case 'settled':
      return { result: 'success', backoff: false };
    case 'waiting':
      return { result: 'requeue_after', afterMs: outcome.afterMs, backoff: false };
    case 'raced':
      return { result: 'requeue', afterMs: raceMs, backoff: false };
    case 'broken': {
      const { reason, message } = outcome;
      return { result: 'error', backoff: true, condition: { reason, message } };
    }
  }
}

/** The outcome for an error of a pass. Messages of servers and of the system are not repeated. */
export function outcomeOfError(error: unknown): Extract<PassOutcome, { kind: 'raced' | 'broken' }> {
  if (error instanceof BrokenError) return { kind: 'broken', reason: error.code, message: error.message };
  if (error instanceof FileWriteError) return brokenFile(error);
  // Fenced: no write was made, and the new leader decides again.
  if (error instanceof NotLeaderError) return { kind: 'raced' };
  if (!isKubeError(error))
    return { kind: 'broken', reason: 'Unexpected', message: 'unexpected error; see the log of the operator' };
  return outcomeOfCode(error.code);
}

function brokenFile(error: FileWriteError): Extract<PassOutcome, { kind: 'broken' }> {
  switch (error.code) {
    case 'disk_full':
      return { kind: 'broken', reason: 'StorageFull', message: 'the bundle cannot be stored: no space is left' };
    case 'denied':
    case 'other':
      return {
        kind: 'broken',
        reason: 'StorageDenied',
        message: 'the bundle cannot be stored: the system refused the write',
      };
  }
}

function outcomeOfCode(code: KubeErrorCode): Extract<PassOutcome, { kind: 'raced' | 'broken' }> {
  switch (code) {
    case 'conflict':
    case 'precondition_failed':
    case 'already_exists':
    case 'not_found':
      return { kind: 'raced' };
    case 'storage_full':
      return { kind: 'broken', reason: 'StorageFull', message: 'the API server has no space left' };
    case 'invalid':
      return { kind: 'broken', reason: 'Refused', message: 'the API server refused an object of the operator' };
    case 'unauthenticated':
    case 'forbidden':
      return { kind: 'broken', reason: 'Refused', message: 'the operator lacks a right at the API server' };
    case 'gone':
    case 'too_large_resource_version':
    case 'too_many_requests':
    case 'unavailable':
    case 'network':
      return { kind: 'broken', reason: 'ServerUnavailable', message: 'the API server does not respond' };
  }
}
