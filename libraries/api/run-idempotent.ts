import { setTimeout as pause } from 'node:timers/promises';
import { sha256Hex } from '#contracts/canonical';
import type { Clock } from '#kit/time/clock';
import { type ApiError, type ApiResponse, type ApiSuccess, type FaultCodes, failure } from './operation.ts';

/** The command that holds an idempotency key. `response` is absent while the command is in progress. */
export type KeyHolder = { readonly fingerprint: string; readonly response: ApiSuccess | undefined };

/** The outcome of one attempt to execute a command. */
export type Attempt<Code extends string> =
  /** The command has its answer. Only a success uses up the idempotency key. */
  | { readonly kind: 'done'; readonly response: ApiResponse<Code> }
  /**
   * The command wrote nothing. If another request with this idempotency key has succeeded meanwhile, its answer is
   * returned.
   */
  | { readonly kind: 'refused'; readonly error: ApiError<Code> }
  /** Another request acquired the idempotency key first. */
  | { readonly kind: 'taken' };

type IdempotentCommand<Code extends string> = {
  readonly fingerprint: string;
  /** The command that holds the caller's key; undefined when the key is free. */
  readonly findHolder: () => Promise<KeyHolder | undefined>;
  /** Stores the key and executes the command, atomically with respect to the key. */
  readonly attempt: () => Promise<Attempt<Code>>;
};

const maxAttempts = 3;

/**
 * The identity of a command: method, path and canonical body. Conditions such as If-Match are not part of it, so that a
 * repetition is answered although the first request changed the resource.
 */
export function commandFingerprint(method: string, path: string, bodyDigest: string): string {
  return sha256Hex(`${method} ${path}\n${bodyDigest}`);
}

/**
 * Executes a command at most once per key. A repeated request gets the answer of the first request; while the first
 * request is in progress, it waits up to `waitMs`. The same key with another fingerprint is refused.
 */
export async function runIdempotent<Code extends string>(
  command: IdempotentCommand<Code>,
  options: { readonly clock: Clock; readonly waitMs: number; readonly faults: FaultCodes<Code> },
): Promise<ApiResponse<Code>> {
  const { faults } = options;
  for (let count = 1; ; count++) {
    const holder = await command.findHolder();
    const replayed = holder === undefined ? undefined : await replay(command, holder, options);
    if (replayed !== undefined) return replayed;
    const attempt = await command.attempt();
    switch (attempt.kind) {
      case 'done':
        return attempt.response;
      case 'refused':
        if (count > maxAttempts || (await command.findHolder()) === undefined) return attempt.error;
        break;
      case 'taken':
        if (count > maxAttempts) return failure(faults.idempotencyInProgress);
    }
  }
}

/** The answer of the command that holds the key; undefined when the key became free because that command failed. */
async function replay<Code extends string>(
  { fingerprint, findHolder }: IdempotentCommand<Code>,
  first: KeyHolder,
  { clock, waitMs, faults }: { readonly clock: Clock; readonly waitMs: number; readonly faults: FaultCodes<Code> },
): Promise<ApiResponse<Code> | undefined> {
  const deadline = clock.now() + waitMs;
  let holder: KeyHolder | undefined = first;
  for (let backoffMs = 10; holder !== undefined; backoffMs = Math.min(backoffMs * 2, 250)) {
    const { response } = holder;
    if (response !== undefined) {
      return holder.fingerprint === fingerprint ? response : failure(faults.idempotencyKeyReused);
    }
    if (clock.now() >= deadline) return failure(faults.idempotencyInProgress);
    await pause(backoffMs);
    holder = await findHolder();
  }
  return undefined;
}
