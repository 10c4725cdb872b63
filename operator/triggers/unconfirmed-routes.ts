import { sameJson } from '#kube/apply/same-json';
import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { Stores } from '../caches/caches.ts';

type Report = Stored<GatewayReport>;
type Entry = GatewayReport['spec']['pending'][number] & { readonly reason?: string };

/** Routes that some replica of their gateway may not have confirmed, to find the routes that a report affects. */
type UnconfirmedRoutes = {
  /** Called when a route was changed, or with undefined when it was deleted. */
  changed(name: string, current: Stored<GatewayRoute> | undefined): void;
  /** The names of the routes that a changed report affects; `all` if it may be any route of its gateway. */
  concernedBy(current: Report | undefined, previous: Report | undefined): ReadonlySet<string> | 'all';
};

export function createUnconfirmedRoutes(stores: Pick<Stores, 'reports' | 'routes'>): UnconfirmedRoutes {
  const open = new Map<string, { readonly gateway: string; readonly version: string }>();

  /** Whether the reports of all known replicas cover a version. */
  function isConfirmed(gateway: string, version: string): boolean {
    const reports = stores.reports.by('gateway', gateway);
    return reports.length > 0 && reports.every((report) => isPast(report, version));
  }

  function forgetConfirmed(gateway: string): void {
    for (const [name, route] of open) {
      if (route.gateway === gateway && isConfirmed(gateway, route.version)) open.delete(name);
    }
  }

  /** A replica that starts later or restarts may lag behind the state that all other replicas have confirmed. */
  function reopen(report: Report): void {
    const { gateway } = report.spec;
    for (const { metadata, spec } of stores.routes.list()) {
      const { name, resourceVersion: version } = metadata;
      if (spec.gateway === gateway && !isPast(report, version)) open.set(name, { gateway, version });
    }
  }

  return {
    changed(name, current) {
      open.delete(name);
      if (current === undefined) return;
      const { gateway } = current.spec;
      const version = current.metadata.resourceVersion;
      if (!isConfirmed(gateway, version)) open.set(name, { gateway, version });
    },
    concernedBy(current, previous) {
      if (current === undefined) return 'all';
      if (previous === undefined || !isSameReplica(current, previous)) {
        reopen(current);
        return 'all';
      }
      const { gateway } = current.spec;
      const concerned = new Set([
        ...changedEntries(current.spec.pending, previous.spec.pending),
        ...changedEntries(current.spec.rejected, previous.spec.rejected),
      ]);
      for (const [name, route] of open) {
        if (route.gateway !== gateway) continue;
        if (isPast(current, route.version) !== isPast(previous, route.version)) concerned.add(name);
      }
      forgetConfirmed(gateway);
      return concerned;
    },
  };
}

/** Whether two reports agree in all fields except their versions and lists of routes. */
function isSameReplica({ metadata, spec }: Report, previous: Report): boolean {
  const { gateway, bootId, ready, formats } = previous.spec;
  return (
    metadata.uid === previous.metadata.uid &&
    spec.gateway === gateway &&
    spec.bootId === bootId &&
    spec.ready === ready &&
    sameJson(spec.formats, formats) &&
    isPast({ metadata, spec }, previous.spec.appliedThrough)
  );
}

function isPast({ spec }: Pick<Report, 'metadata' | 'spec'>, version: string): boolean {
  if (!isVersion(spec.appliedThrough) || !isVersion(version)) return false;
  return compareVersions(spec.appliedThrough, version) >= 0;
}

/** Names of routes on which two lists differ. */
function changedEntries(current: readonly Entry[], previous: readonly Entry[]): readonly string[] {
  if (current.length === 0 && previous.length === 0) return [];
  const keyOf = ({ route, uid, version, reason }: Entry): string => JSON.stringify([route, uid, version, reason]);
  const before = new Map(previous.map((entry) => [keyOf(entry), entry.route]));
  const changed: string[] = [];
  for (const entry of current) if (!before.delete(keyOf(entry))) changed.push(entry.route);
  return [...changed, ...before.values()];
}
