import type { BundleLimits } from '#contracts/bundle';
import type { Definition } from '#contracts/policy';
import { contextHeaders } from '#contracts/profiles';
import type { ServedLimits } from '#contracts/served-target';
import type { GuardedRoute } from '#resources/gateway-route';
import type { PolicyRevisionSpec } from '#resources/policy-revision';

/** A streaming binding needs bodies of at least this size (docs/design/streaming.md). */
export const minStreamingBodyBytes = 8_192;

/** The data with which a gateway guards a model with one bundle. */
export function makeGuard(input: {
  readonly revision: PolicyRevisionSpec;
  readonly contentProfile: string;
  readonly digest: string;
  readonly addresses: readonly string[];
  readonly definition: Definition;
  readonly limits: BundleLimits;
  readonly streaming: { readonly allowed: true } | { readonly allowed: false; readonly rule: string };
  /** Whether the request section can judge long texts in pieces. */
  readonly division: ServedLimits['division'] | undefined;
}): GuardedRoute {
  const { revision, contentProfile, digest, limits } = input;
  const policyRevision = String(revision.number);
  return {
    mode: 'Policy',
    policyId: revision.policyId,
    policyRevision,
    digest,
    addresses: [...input.addresses],
    headers: {
      [contextHeaders.policyId]: revision.policyId,
      [contextHeaders.policyRevision]: policyRevision,
      [contextHeaders.bundleDigest]: digest,
      [contextHeaders.contentProfile]: contentProfile,
    },
    maxBodyBytes: limits.maxBodyBytes,
    maxMessages: limits.maxMessages,
    deadlineMs: deadlinesOf(input.definition),
    ...(revision.refusalText === undefined ? {} : { refusalText: revision.refusalText }),
    streaming: streamingOf(input.streaming, limits.maxBodyBytes),
    ...(input.division === undefined ? {} : { division: input.division }),
  };
}

function streamingOf(
  judged: { readonly allowed: true } | { readonly allowed: false; readonly rule: string },
  maxBodyBytes: number,
): GuardedRoute['streaming'] {
  if (!judged.allowed) return { allowed: false, rule: judged.rule };
  if (maxBodyBytes >= minStreamingBodyBytes) return { allowed: true };
  return { allowed: false, rule: `the limit maxBodyBytes (${maxBodyBytes}, below ${minStreamingBodyBytes})` };
}

/** The stage budgets of a definition, milliseconds. */
export function deadlinesOf({ request, response }: Definition): GuardedRoute['deadlineMs'] {
  return { request: request.deadlineMs, response: response.deadlineMs };
}
