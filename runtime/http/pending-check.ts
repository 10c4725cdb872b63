import type { CheckErrorCode, CheckMessage } from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import type { ResponseMode } from '#contracts/profiles';
import type { OnceHeader } from '#kit/http/raw-headers';
import type { LoadedBundle } from '../bundle/loaded-bundle.ts';
import type { CompiledSection } from '../rules/compiled-section.ts';

/** The headers that gates read, duplicates included. */
export type CheckHeaders = {
  readonly authorization: OnceHeader;
  readonly policyId: OnceHeader;
  readonly policyRevision: OnceHeader;
  readonly bundleDigest: OnceHeader;
  readonly contentProfile: OnceHeader;
  readonly responseMode: OnceHeader;
  readonly contentType: OnceHeader;
  readonly contentEncoding: OnceHeader;
  readonly contentLength: OnceHeader;
  /** A header that is not part of the contract; unknown values are ignored. */
  readonly explain: OnceHeader;
};

/** The values of the context headers, as sent. */
type ContextHeaders = {
  readonly policyId: string;
  readonly policyRevision: string;
  readonly bundleDigest: string;
  readonly contentProfile: string;
  /** The header; absent if the profile does not require it and the client does not send it. */
  readonly responseMode: ResponseMode | undefined;
};

/** A check on its way through the gates; a gate may rely only on members that earlier gates set. */
export type PendingCheck = {
  readonly stage: Stage;
  readonly headers: CheckHeaders;
  /** The loaded bundle; undefined until it is loaded. */
  readonly bundle: LoadedBundle | undefined;
  readonly acceptsToken: (token: string) => boolean;
  context?: ContextHeaders;
  section?: CompiledSection;
  bytes?: Buffer;
  messages?: readonly CheckMessage[];
  /** The id of the rule that decided, once it has. */
  decidedBy?: string | undefined;
};

/**
 * One condition on a check: returns the code of the refusal, or undefined. A gate never throws because of client input.
 */
export type Gate = (check: PendingCheck) => CheckErrorCode | undefined;

/** The refusal of the first gate in the list that fails. */
export function firstRefusal(gates: readonly Gate[], check: PendingCheck): CheckErrorCode | undefined {
  for (const gate of gates) {
    const code = gate(check);
    if (code !== undefined) return code;
  }
  return undefined;
}
