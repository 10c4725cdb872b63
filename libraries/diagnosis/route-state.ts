import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';

/** The state of a route in the report of a replica. */
type RouteState =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'pending' }
  /** The replica has not seen this version of the route yet. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'rejected'; readonly reason: string };

/** A rejection counts only for the version that was rejected. */
export function routeStateOf({ spec }: Stored<GatewayReport>, { metadata }: Stored<GatewayRoute>): RouteState {
  const { name, uid, resourceVersion } = metadata;
  const isAbout = (entry: { readonly route: string; readonly uid: string }): boolean =>
    entry.route === name && entry.uid === uid;
  const rejected = spec.rejected.find((entry) => isAbout(entry) && entry.version === resourceVersion);
  if (rejected !== undefined) return { kind: 'rejected', reason: rejected.reason };
  if (spec.pending.some(isAbout)) return { kind: 'pending' };
  const { appliedThrough } = spec;
  const hasSeen = isVersion(appliedThrough) && compareVersions(appliedThrough, resourceVersion) >= 0;
  return { kind: hasSeen && !spec.rejected.some(isAbout) ? 'loaded' : 'stale' };
}
