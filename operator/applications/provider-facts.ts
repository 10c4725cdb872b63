import type { GatewayReport, GatewayReportSpec } from '#resources/gateway-report';
import type { Stored } from '#resources/metadata';

type ProviderState = NonNullable<GatewayReportSpec['providers']>[number];

/** Providers of models and workloads of rules about which two reports of one replica differ. */
export function changedProviders(
  current: Stored<GatewayReport> | undefined,
  previous: Stored<GatewayReport> | undefined,
): { readonly providers: ReadonlySet<string>; readonly workloads: ReadonlySet<string> } {
  const statesOf = (report: Stored<GatewayReport> | undefined): ReadonlyMap<string, ProviderState> =>
    new Map((report?.spec.providers ?? []).map((state) => [keyOf(state), state]));
  const [after, before] = [statesOf(current), statesOf(previous)];
  const changed = [...after].filter(([key]) => !before.has(key)).concat([...before].filter(([key]) => !after.has(key)));
  const states = changed.map(([, state]) => state);
  return {
    providers: new Set(states.flatMap(({ provider, rule }) => (rule === undefined ? provider : []))),
    workloads: new Set(states.flatMap(({ workload }) => workload ?? [])),
  };
}

function keyOf({ provider, model, workload, rule, cause }: ProviderState): string {
  return JSON.stringify([provider, model, workload, rule, cause]);
}
