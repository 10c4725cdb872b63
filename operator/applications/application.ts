import { digestOf } from '#contracts/canonical';
import { sameJson } from '#kube/apply/same-json';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { ApplicationRecord, FailureReason, ModelBindingSpec } from '#resources/model-binding';

/** The content of an application; the policy id is unknown while the policy cannot be found. */
export type Content =
  | { readonly mode: 'None'; readonly contentProfile: string }
  | {
      readonly mode: 'Policy';
      readonly policyId: string | undefined;
      readonly policyRevision: string;
      readonly contentProfile: string;
    };

/**
 * One application of a content: the same content with another token is another application
 * (docs/design/applications-and-routes.md).
 */
export type Application = { readonly token: string; readonly content: Content };

/** The desired application. */
export function desiredApplication(spec: ModelBindingSpec, policyId: string | undefined): Application {
  const { contentProfile, guardrail } = spec;
  const token = spec.apply ?? '';
  if (guardrail.mode === 'None') return { token, content: { mode: 'None', contentProfile } };
  return {
    token,
    content: { mode: 'Policy', policyId, policyRevision: String(guardrail.policyRef.revision), contentProfile },
  };
}

/** The pinned application. */
export function pinnedApplication(route: GatewayRouteSpec): Application {
  const { token, contentProfile, guardrail } = route;
  if (guardrail.mode === 'None') return { token, content: { mode: 'None', contentProfile } };
  const { policyId, policyRevision } = guardrail;
  return { token, content: { mode: 'Policy', policyId, policyRevision, contentProfile } };
}

export function contentDigest(content: Content): string {
  return digestOf(content);
}

export function sameContent(a: Content, b: Content): boolean {
  return sameJson(a, b);
}

export function sameApplication(a: Application, b: Application): boolean {
  return a.token === b.token && sameContent(a.content, b.content);
}

/**
 * Whether two applications may be the same: an unknown policy id equals every id, so that a pinned application does not
 * count as new while its policy cannot be found.
 */
export function mayBeSame(desired: Application, pinned: Application): boolean {
  if (desired.content.mode !== 'Policy' || pinned.content.mode !== 'Policy') return sameApplication(desired, pinned);
  if (desired.content.policyId !== undefined) return sameApplication(desired, pinned);
  return sameApplication({ ...desired, content: { ...desired.content, policyId: pinned.content.policyId } }, pinned);
}

/** An outcome without its time. */
export type OutcomeRecord = Omit<ApplicationRecord, 'time'>;

export function outcomeOf(
  application: Application,
  generationId: string | undefined,
  result: { readonly outcome: 'Applied' } | { readonly outcome: 'Failed'; readonly reason: FailureReason },
): OutcomeRecord {
  const { token, content } = application;
  return {
    operationId: token,
    ...(content.mode === 'Policy' && content.policyId !== undefined ? { policyId: content.policyId } : {}),
    ...(content.mode === 'Policy' ? { policyRevision: Number(content.policyRevision) } : {}),
    contentProfile: content.contentProfile,
    ...(generationId === undefined ? {} : { generationId }),
    ...result,
  };
}

/** Whether a record is an outcome of this application: it has the same token and content. */
export function isOutcomeOf(record: ApplicationRecord, application: Application): boolean {
  const { token, content } = application;
  if (record.operationId !== token || record.contentProfile !== content.contentProfile) return false;
  if (content.mode === 'None') return record.policyRevision === undefined && record.policyId === undefined;
  return record.policyId === content.policyId && record.policyRevision === Number(content.policyRevision);
}

/** The outcome of an application that failed; its generation is absent if no route was written. */
export function failedOutcome(
  application: Application,
  generationId: string | undefined,
  reason: OutcomeRecord['reason'] & string,
): OutcomeRecord {
  return outcomeOf(application, generationId, { outcome: 'Failed', reason });
}
