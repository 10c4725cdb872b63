import type { ProviderCause } from '#contracts/provider-causes';
import type { StoreView } from '#kube/watch/object-store';
import type { GatewayReport, GatewayReportSpec } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';

type ProviderState = NonNullable<GatewayReportSpec['providers']>[number];

/** What the ready replicas of a gateway know about the provider of a route. */
export type ProviderFact =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'reachable' }
  | { readonly kind: 'failing'; readonly cause: ProviderCause };

/** A failure at any ready replica counts: a part of the requests fails. */
export function providerFactOf(
  { reports }: { readonly reports: StoreView<GatewayReport> },
  { spec: { gateway, upstream } }: Pick<Stored<GatewayRoute>, 'spec'>,
): ProviderFact {
  const states = reports
    .by('gateway', gateway)
    .filter(({ spec }) => spec.ready)
    .flatMap(({ spec }) => spec.providers ?? [])
    .filter(({ provider, model }) => provider === upstream.provider && (model ?? upstream.model) === upstream.model);
  const causes = states.flatMap(({ cause }) => cause ?? []).toSorted();
  const [cause] = causes;
  if (cause !== undefined) return { kind: 'failing', cause };
  return { kind: states.length > 0 ? 'reachable' : 'unknown' };
}

/** Names of providers about which two reports of one replica differ. */
export function changedProviders(
  current: Stored<GatewayReport> | undefined,
  previous: Stored<GatewayReport> | undefined,
): ReadonlySet<string> {
  const keysOf = (report: Stored<GatewayReport> | undefined): ReadonlyMap<string, string> =>
    new Map((report?.spec.providers ?? []).map((state) => [keyOf(state), state.provider]));
  const [after, before] = [keysOf(current), keysOf(previous)];
  const changed = [...after].filter(([key]) => !before.has(key)).concat([...before].filter(([key]) => !after.has(key)));
  return new Set(changed.map(([, provider]) => provider));
}

function keyOf({ provider, model, cause }: ProviderState): string {
  return JSON.stringify([provider, model, cause]);
}
