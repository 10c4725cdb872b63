import type { CheckTarget } from '#checks/check-target';
import type { Stage } from '#contracts/policy';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';

/**
 * Addresses, policy and limits for the checks of one stage. All are read from the route
 * (`gateway:context:builds-headers`).
 */
export function checkTarget(route: GatewayRouteSpec, guardrail: GuardedRoute, stage: Stage): CheckTarget {
  return {
    addresses: guardrail.addresses,
    policyId: guardrail.policyId,
    policyRevision: guardrail.policyRevision,
    digest: guardrail.digest,
    contentProfile: route.contentProfile,
    maxBodyBytes: guardrail.maxBodyBytes,
    maxMessages: guardrail.maxMessages,
    deadlineMs: guardrail.deadlineMs[stage],
  };
}
