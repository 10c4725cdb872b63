import type { ProviderCause } from '#contracts/provider-causes';
import type { GatewayReportSpec } from './gateway-report.ts';
import type { GatewayRouteSpec } from './gateway-route.ts';

/** The reports of the ready replicas of a gateway about the providers of a route's model and rules. */
export type ProviderFact =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'reachable' }
  | {
      readonly kind: 'failing';
      readonly provider: string;
      readonly cause: ProviderCause;
      /** The id of the rule; present for a detector or classifier. */
      readonly rule?: string;
    };

/**
 * A failure at any ready replica counts, because it affects a part of the requests. A fact about the model has priority
 * over facts about rules, because without the model no request is answered.
 */
export function providerFactOf(
  reports: readonly Pick<GatewayReportSpec, 'ready' | 'providers'>[],
  { upstream, workload }: Pick<GatewayRouteSpec, 'upstream' | 'workload'>,
): ProviderFact {
  const states = reports.filter(({ ready }) => ready).flatMap(({ providers }) => providers ?? []);
  const ofModel = states.filter(
    ({ provider, model, rule }) =>
      rule === undefined && provider === upstream.provider && (model ?? upstream.model) === upstream.model,
  );
  const [cause] = ofModel.flatMap((state) => state.cause ?? []).toSorted();
  if (cause !== undefined) return { kind: 'failing', provider: upstream.provider, cause };
  const [ofRule] = states
    .flatMap(({ provider, rule, cause, ...state }) =>
      rule !== undefined && cause !== undefined && workload !== undefined && state.workload === workload
        ? { provider, rule, cause }
        : [],
    )
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (ofRule !== undefined) return { kind: 'failing', ...ofRule };
  return { kind: ofModel.length > 0 ? 'reachable' : 'unknown' };
}
