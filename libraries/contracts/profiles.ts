/**
 * Content profiles (`guardrail:versioning:profile-check`). A bundle has one profile; each check must name exactly this
 * profile.
 */
export const contentProfiles = [
  'gateway-1.5.0-chat-webhook-v2',
  'gateway-1.5.0-text-webhook-v1',
  'gateway-1.4.1-text-webhook-v1',
] as const;

export type ContentProfile = (typeof contentProfiles)[number];

/** The profile under which streaming, tool calls and image messages are allowed through the gateway. */
export const currentProfile: ContentProfile = 'gateway-1.5.0-chat-webhook-v2';

export function isContentProfile(value: string): value is ContentProfile {
  return (contentProfiles as readonly string[]).includes(value);
}

/** Whether a check must have the header `x-ap-gr-response-mode` (`guardrail:headers:*`). */
export function requiresResponseMode(profile: ContentProfile): boolean {
  return profile === currentProfile;
}

/** Response modes: the whole answer, or a stream that a match stops. */
export const responseModes = ['buffered', 'sse-reject'] as const;
export type ResponseMode = (typeof responseModes)[number];

/** Names of the check headers in lower case. */
export const contextHeaders = {
  policyId: 'x-ap-gr-policy-id',
  policyRevision: 'x-ap-gr-policy-revision',
  bundleDigest: 'x-ap-gr-bundle-digest',
  contentProfile: 'x-ap-gr-content-profile',
  responseMode: 'x-ap-gr-response-mode',
} as const;

/**
 * An addition of this platform to the contract: a caller that sends `x-portcullis-explain: rule` gets the id of the
 * rule that decided in `x-portcullis-rule` (docs/decisions/0026); if the detector or classifier of that rule returned
 * no judgement, the caller also gets the name of that provider and one of `providerCauses`. No header changes the
 * result.
 */
export const explainHeaders = {
  ask: 'x-portcullis-explain',
  rule: 'x-portcullis-rule',
  provider: 'x-portcullis-provider',
  cause: 'x-portcullis-cause',
} as const;
export const explainRule = 'rule';
