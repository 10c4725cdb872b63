import type { Stage } from '#contracts/policy';
import { contextHeaders, type ResponseMode } from '#contracts/profiles';

/**
 * Addresses, policy and limits of a check. The target is fixed before the call and applies to the whole check. Its
 * values come from configuration, never from the request of a client
 * (`guardrail:headers:context-from-trusted-configuration`).
 */
export type CheckTarget = {
  /** Origins of the processes of one workload, such as `http://127.0.0.1:9001`. */
  readonly addresses: readonly string[];
  readonly policyId: string;
  readonly policyRevision: string;
  /** SHA-256 of the canonical bundle, 64 hexadecimal characters. */
  readonly digest: string;
  readonly contentProfile: string;
  /** Largest size of one serialised check, in bytes. */
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  /** Stage budget of the policy in milliseconds. */
  readonly deadlineMs: number;
};

/** The headers of a check without the token. */
export function checkHeaders(target: CheckTarget, mode: ResponseMode): Record<string, string> {
  return {
    'content-type': 'application/json',
    [contextHeaders.policyId]: target.policyId,
    [contextHeaders.policyRevision]: target.policyRevision,
    [contextHeaders.bundleDigest]: target.digest,
    [contextHeaders.contentProfile]: target.contentProfile,
    [contextHeaders.responseMode]: mode,
  };
}

/** The body of a check: role and content only, whatever other members the messages of the caller have. */
export function checkBody(stage: Stage, messages: readonly { role: string; content: string }[]): Buffer {
  const body =
    stage === 'request'
      ? { messages: messages.map(({ role, content }) => ({ role, content })) }
      : { choices: messages.map(({ role, content }) => ({ message: { role, content } })) };
  return Buffer.from(JSON.stringify({ body }), 'utf8');
}
