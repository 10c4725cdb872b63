import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { StoreView } from '#kube/watch/object-store';
import type { GatewayReport } from '#resources/gateway-report';
import { type GatewayRoute, routeFormatVersion } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';

type ReportStores = { readonly reports: StoreView<GatewayReport> };

/** One replica of the route's gateway, and its report about the route. */
export type ReplicaView = {
  readonly name: string;
  readonly ready: boolean;
  readonly readsFormat: boolean;
  /** The report covers the version of the route. */
  readonly reached: boolean;
  readonly pending: boolean;
  readonly rejected: string | undefined;
};

/** The replicas of the route's gateway, and their reports about this version of the route. */
export function replicasOf(stores: ReportStores, route: Stored<GatewayRoute>): readonly ReplicaView[] {
  const { name, uid, resourceVersion } = route.metadata;
  return sortedReports(stores.reports.by('gateway', route.spec.gateway)).map(({ metadata, spec }) => {
    const about = (entry: { readonly route: string; readonly uid: string }): boolean =>
      entry.route === name && entry.uid === uid;
    const rejected = spec.rejected.filter(about);
    return {
      name: metadata.name,
      ready: spec.ready,
      readsFormat: spec.formats.includes(routeFormatVersion),
      reached: isVersion(spec.appliedThrough) && compareVersions(spec.appliedThrough, resourceVersion) >= 0,
      // A report about an earlier version of the route says nothing about this version.
      pending: spec.pending.some(about) || rejected.some((entry) => entry.version !== resourceVersion),
      rejected: rejected.find((entry) => entry.version === resourceVersion)?.reason,
    };
  });
}

/** The replicas of a gateway, for a binding that has no route yet. */
export function waitingReplicas(stores: ReportStores, gateway: string): readonly ReplicaView[] {
  return sortedReports(stores.reports.by('gateway', gateway)).map(({ metadata, spec }) => ({
    name: metadata.name,
    ready: spec.ready,
    readsFormat: spec.formats.includes(routeFormatVersion),
    reached: false,
    pending: false,
    rejected: undefined,
  }));
}

export function sortedReports(reports: readonly Stored<GatewayReport>[]): readonly Stored<GatewayReport>[] {
  return reports.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
