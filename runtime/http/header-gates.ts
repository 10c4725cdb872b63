import type { CheckErrorCode } from '#contracts/checks';
import { limits } from '#contracts/limits';
import { contextHeaders, type ResponseMode, requiresResponseMode, responseModes } from '#contracts/profiles';
import { bearerToken } from '#kit/http/bearer';
import { exactlyOnce, headerValues } from '#kit/http/raw-headers';
import { declaredLength } from '#kit/http/read-body';
import type { Gate, PendingCheck } from './pending-check.ts';

/** The service token, exactly once, as bearer (document 1, section 5; reading 7). */
export function serviceToken(check: Pick<PendingCheck, 'rawHeaders' | 'acceptsToken'>): CheckErrorCode | undefined {
  const bearer = bearerToken(check.rawHeaders);
  return bearer.ok && check.acceptsToken(bearer.token) ? undefined : 'unauthenticated';
}

/** Context headers exactly once and not empty, before any of them is compared (document 1, section 4.1, rule 1). */
function contextOnce(check: PendingCheck): CheckErrorCode | undefined {
  const policyId = exactlyOnce(check.rawHeaders, contextHeaders.policyId);
  const policyRevision = exactlyOnce(check.rawHeaders, contextHeaders.policyRevision);
  const bundleDigest = exactlyOnce(check.rawHeaders, contextHeaders.bundleDigest);
  const contentProfile = exactlyOnce(check.rawHeaders, contextHeaders.contentProfile);
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

/** Required by the current profile only; where it is sent it must be one of the two values (reading 7). */
function responseMode({ rawHeaders, bundle }: PendingCheck): Mode {
  const header = exactlyOnce(rawHeaders, contextHeaders.responseMode);
  if (!header.ok) {
    const required = bundle !== undefined && requiresResponseMode(bundle.contentProfile);
    return header.fault === 'missing' && !required ? { ok: true, value: undefined } : { ok: false };
  }
  const value = responseModes.find((mode) => mode === header.value);
  return value === undefined ? { ok: false } : { ok: true, value };
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** JSON in UTF-8, declared once, without any Content-Encoding (document 1, section 4.1, rule 2; reading 9). */
function mediaType({ rawHeaders }: PendingCheck): CheckErrorCode | undefined {
  if (headerValues(rawHeaders, 'content-encoding').length > 0) return 'unsupported_media';
  const type = exactlyOnce(rawHeaders, 'content-type');
  return type.ok && json.test(type.value) ? undefined : 'unsupported_media';
}

/** The size that the request declares; the bytes that really come are counted while they are read. */
function declaredSize({ rawHeaders, bundle }: PendingCheck): CheckErrorCode | undefined {
  const limit = bundle?.limits.maxBodyBytes ?? limits.maxBodyBytes.max;
  return (declaredLength(rawHeaders) ?? 0) > limit ? 'body_too_large' : undefined;
}

/** Digest, profile, policy and revision exactly as loaded; nothing ever switches to another (section 4.1, rule 3). */
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

/** Gates before the body is asked for (DESIGN section 7). A caller with `expect: 100-continue` passes these first. */
export const headerGates: readonly Gate[] = [serviceToken, contextOnce, mediaType, declaredSize, loadedPolicy];
