import type { ApplicationProgress } from '../../../acceptance/decide-progress.ts';
import type { Application } from '../../../applications/application.ts';
import { contentDigest, pinnedApplication, sameApplication } from '../../../applications/application.ts';
import { isApplied } from '../../../applications/outcome-history.ts';
import type { PreviousApplication } from '../../../applications/previous-application.ts';
import { releasedAlias } from '../alias/released-alias.ts';
import { makeRouteFrame, type RouteDraft, type Upstream } from '../resources/route.ts';
import type { RouteView, Snapshot } from '../snapshot/snapshot.ts';
import { pinnedGuard } from './pinned-route.ts';

/** Every ready replica has reached the route without rejecting it; zero replicas never confirm. */
export function isConfirmed(s: Snapshot): boolean {
  if (s.replicas.some((replica) => replica.rejected !== undefined)) return false;
  const ready = s.replicas.filter((replica) => replica.ready);
  return ready.length > 0 && ready.every((replica) => replica.reached && !replica.pending);
}

/** The route of an application whose workload is ready. */
export function newDraft(
  s: Snapshot,
  application: Application,
  ready: Extract<ApplicationProgress, { kind: 'ready' }>,
): RouteDraft {
  return {
    ...frameOf(s),
    token: application.token,
    contentProfile: application.content.contentProfile,
    guardrail: ready.guardrail,
    ...(ready.workload === undefined ? {} : { workload: ready.workload }),
  };
}

/** The current route with the fields that may change without an application. */
export function keptDraft(s: Snapshot, route: RouteView): RouteDraft {
  const { generationId, ...current } = route.spec;
  return { ...current, ...frameOf(s), guardrail: withAddresses(current.guardrail, route.workload) };
}

/**
 * The route that restores the previous application and records the rejected one; undefined if there is no previous
 * application, or if it is unguarded (docs/design/applications-and-routes.md).
 */
export function rolledBackDraft(s: Snapshot, route: RouteView, message: string): RouteDraft | undefined {
  const { previous, previousWorkload } = route;
  if (previous?.mode !== 'Policy' || previousWorkload?.runnable !== true) return undefined;
  const refused = pinnedApplication(route.spec);
  // The application that would be restored is the desired one: there is no earlier application to restore.
  if (isPinned(previous, refused)) return undefined;
  return {
    ...frameOf(s),
    token: previous.token,
    contentProfile: previous.contentProfile,
    guardrail: withAddresses(previous.guardrail, previousWorkload),
    workload: previous.workload,
    refused: {
      token: refused.token,
      contentDigest: contentDigest(refused.content),
      generationId: route.spec.generationId,
      reason: 'replica_rejected',
      message,
    },
  };
}

/** A missing route is restored only by the owner of the alias, with an approved provider. */
export function canRestore(s: Snapshot): boolean {
  return s.route !== undefined || (s.owner.kind === 'owner' && s.upstream.kind === 'approved');
}

/** The route as the status records it; undefined if the record is incomplete or its workload has no address now. */
export function restorableDraft(s: Snapshot): RouteDraft | undefined {
  const { pinned } = s;
  if (pinned?.workload?.runnable !== true || !canRestore(s)) return undefined;
  const guardrail = pinnedGuard(pinned.record, pinned.workload.addresses);
  const { token, contentProfile } = pinned.record;
  if (guardrail === undefined || token === undefined || contentProfile === undefined) return undefined;
  return { ...frameOf(s), token, contentProfile, guardrail, workload: pinned.workload.name };
}

/**
 * The previous application of a new application: the last application that every replica confirmed, not one in
 * progress.
 */
export function previousOf(s: Snapshot): PreviousApplication | undefined {
  const { route } = s;
  if (route === undefined) return undefined;
  if (!isApplied(s.history, route.spec.generationId) && !isConfirmed(s)) return route.previous;
  const { guardrail, token, contentProfile, workload } = route.spec;
  if (guardrail.mode === 'None' || workload === undefined) return { mode: 'None' };
  return { mode: 'Policy', token, contentProfile, workload, guardrail };
}

function isPinned(previous: Extract<PreviousApplication, { mode: 'Policy' }>, pinned: Application): boolean {
  const { token, contentProfile, guardrail } = previous;
  const { policyId, policyRevision } = guardrail;
  return sameApplication({ token, content: { mode: 'Policy', policyId, policyRevision, contentProfile } }, pinned);
}

function withAddresses(guardrail: RouteDraft['guardrail'], workload: RouteView['workload']): RouteDraft['guardrail'] {
  if (guardrail.mode === 'None' || workload === undefined || !workload.runnable) return guardrail;
  if (workload.addresses.length === 0) return guardrail;
  return { ...guardrail, addresses: [...workload.addresses] };
}

function frameOf(s: Snapshot) {
  const { name, uid, id, spec } = s.binding;
  if (id === undefined) throw new TypeError('a route was to be built for a binding that has no id');
  return { ...makeRouteFrame({ name, uid, id }, spec, upstreamOf(s)), ...placeOf(s, id) };
}

/**
 * The place of the route. A binding that does not own its desired alias keeps the alias of its route, unless other
 * bindings wait for that alias.
 */
function placeOf({ binding: { spec }, owner, move, route }: Snapshot, id: string): { gateway: string; alias: string } {
  if (owner.kind === 'owner' || route === undefined) return { gateway: spec.gateway, alias: spec.model.alias };
  const { gateway, alias } = route.spec;
  switch (move?.kind) {
    case undefined:
      return { gateway, alias };
    case 'step_aside':
      return { gateway, alias: releasedAlias(id) };
    case 'return':
      return { gateway: move.gateway, alias: move.alias };
  }
}

/**
 * The upstream to write. While the current upstream is approved, a name that is not approved changes nothing; if the
 * current upstream is no longer approved, the route is disabled.
 */
function upstreamOf(s: Snapshot): Upstream {
  if (s.upstream.kind === 'approved') return s.upstream;
  const inUse = s.routeUpstream;
  if (inUse?.kind === 'approved') return inUse;
  if (s.route === undefined) throw new TypeError('a route was to be built for a provider that is not approved');
  const { provider, endpoint, credential } = s.route.spec.upstream;
  return { provider, endpoint, credential, enabled: false };
}
