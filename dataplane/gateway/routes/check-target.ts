import type { CheckTarget } from '#checks/check-target';
import type { Stage } from '#contracts/policy';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';

/** Where and by what the texts of one stage are judged: all of it from the route, nothing from a request. */
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
