import type { CheckTarget } from '#checks/check-target';
import type { Stage } from '#contracts/policy';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';

const made = new WeakMap<GatewayRouteSpec, Partial<Record<Stage, CheckTarget>>>();

/**
 * Addresses, policy and limits for the checks of one stage. All are read from the route
 * (`gateway:context:builds-headers`). A route object is never changed, so that each of its targets is made only once.
 */
export function checkTarget(route: GatewayRouteSpec, guardrail: GuardedRoute, stage: Stage): CheckTarget {
  const known = made.get(route) ?? {};
  made.set(route, known);
  known[stage] ??= targetOf(route, guardrail, stage);
  return known[stage];
}

function targetOf(route: GatewayRouteSpec, guardrail: GuardedRoute, stage: Stage): CheckTarget {
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
