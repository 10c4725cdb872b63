import type { CheckErrorCode } from '#contracts/checks';
import { limits } from '#contracts/limits';
import {
  contextHeaders,
  explainHeaders,
  type ResponseMode,
  requiresResponseMode,
  responseModes,
} from '#contracts/profiles';
import { bearerOf } from '#kit/http/bearer';
import { createHeaderReader, type OnceHeader } from '#kit/http/raw-headers';
import type { CheckHeaders, Gate, PendingCheck } from './pending-check.ts';

const readEach = createHeaderReader([
  'authorization',
  contextHeaders.policyId,
  contextHeaders.policyRevision,
  contextHeaders.bundleDigest,
  contextHeaders.contentProfile,
  contextHeaders.responseMode,
  'content-type',
  'content-encoding',
  'content-length',
  explainHeaders.ask,
]);

/** Finds the headers of a check in Node's flat list of names and values. */
export function readCheckHeaders(rawHeaders: readonly string[]): CheckHeaders {
  const found = readEach(rawHeaders);
  return {
    authorization: found[0],
    policyId: found[1],
    policyRevision: found[2],
    bundleDigest: found[3],
    contentProfile: found[4],
    responseMode: found[5],
    contentType: found[6],
    contentEncoding: found[7],
    contentLength: found[8],
    explain: found[9],
  };
}

/** The service token, exactly once, as bearer (`guardrail:auth:*`). */
export function serviceToken(check: Pick<PendingCheck, 'headers' | 'acceptsToken'>): CheckErrorCode | undefined {
  const bearer = bearerOf(check.headers.authorization);
  return bearer.ok && check.acceptsToken(bearer.token) ? undefined : 'unauthenticated';
}

/** Context headers exactly once and not empty, before any of them is compared (`guardrail:headers:*`). */
function contextOnce(check: PendingCheck): CheckErrorCode | undefined {
  const { policyId, policyRevision, bundleDigest, contentProfile } = check.headers;
  const mode = responseMode(check);
  if (!policyId.ok || !policyRevision.ok || !bundleDigest.ok || !contentProfile.ok || !mode.ok) {
    return 'untrusted_context';
  }
  check.context = {
    policyId: policyId.value,
    policyRevision: policyRevision.value,
    bundleDigest: bundleDigest.value,
    contentProfile: contentProfile.value,
    responseMode: mode.value,
  };
  return undefined;
}

type Mode = { readonly ok: true; readonly value: ResponseMode | undefined } | { readonly ok: false };

/** Required by the current profile only; if the header is sent, its value must be one of the two allowed values. */
function responseMode({ headers, bundle }: PendingCheck): Mode {
  const header = headers.responseMode;
  if (!header.ok) {
    const required = bundle !== undefined && requiresResponseMode(bundle.contentProfile);
    return header.fault === 'missing' && !required ? { ok: true, value: undefined } : { ok: false };
  }
  const value = responseModes.find((mode) => mode === header.value);
  return value === undefined ? { ok: false } : { ok: true, value };
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** JSON in UTF-8, declared once, without any Content-Encoding (`guardrail:errors:unsupported-media`). */
function mediaType({ headers }: PendingCheck): CheckErrorCode | undefined {
  if (isThere(headers.contentEncoding)) return 'unsupported_media';
  const type = headers.contentType;
  return type.ok && json.test(type.value) ? undefined : 'unsupported_media';
}

function isThere(header: OnceHeader): boolean {
  return header.ok || header.fault !== 'missing';
}

/** The declared Content-Length, which Node has validated; the bytes that arrive are counted while they are read. */
function declaredSize({ headers, bundle }: PendingCheck): CheckErrorCode | undefined {
  const limit = bundle?.limits.maxBodyBytes ?? limits.maxBodyBytes.max;
  const declared = headers.contentLength.ok ? Number(headers.contentLength.value) : 0;
  return declared > limit ? 'body_too_large' : undefined;
}

/**
 * Digest, profile, policy and revision must be exactly those of the loaded bundle; there is no fallback to another
 * policy.
 */
function loadedPolicy(check: PendingCheck): CheckErrorCode | undefined {
  const { bundle, context, stage } = check;
  if (bundle === undefined || context === undefined) return 'policy_unavailable';
  if (context.bundleDigest !== bundle.digest) return 'policy_unavailable';
  if (context.contentProfile !== bundle.contentProfile) return 'policy_unavailable';
  const policy = bundle.policies.get(context.policyId);
  if (policy === undefined || policy.revision !== context.policyRevision) return 'policy_unavailable';
  check.section = policy[stage];
  return undefined;
}

/**
 * Gates that are evaluated before the body is received (docs/design/gates.md). A caller with `expect: 100-continue` has
 * to pass them first.
 */
export const headerGates: readonly Gate[] = [serviceToken, contextOnce, mediaType, declaredSize, loadedPolicy];
