import { sameJson } from '#kube/apply/same-json';
import { idPattern } from '#resources/admission-rules';
import { idLabel } from '#resources/kinds';
import { applyDesiredApplication, rememberFailure } from './application/decide-desired.ts';
import { followPinned } from './application/decide-pinned.ts';
import { runPinnedAgain } from './application/decide-rerun.ts';
import { keptDraft, restorableDraft } from './route/decide-route.ts';
import { isAccountedFor } from './route/pinned-route.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { type ReconcileStep, settleAs } from './snapshot/steps.ts';

type Phase = (s: Snapshot) => ReconcileStep | undefined;

/** The steps are tried in this order; the first that returns a result decides. */
const phases: readonly Phase[] = [
  leave,
  refuseId,
  adopt,
  dropForeignRoute,
  restoreRoute,
  runPinnedAgain,
  keepRoute,
  refuseConflict,
  followPinned,
  rememberFailure,
];

/** The next step of a binding (docs/design/applications-and-routes.md). Pure: the same snapshot gives the same step. */
export function decide(s: Snapshot): ReconcileStep {
  for (const phase of phases) {
    const step = phase(s);
    if (step !== undefined) return step;
  }
  return applyDesiredApplication(s);
}

/** Deletion: delete the route, wait for replicas that still use it, then remove the finalizer. */
function leave(s: Snapshot): ReconcileStep | undefined {
  if (!s.binding.deleting) return undefined;
  if (!s.binding.hasFinalizer) return { kind: 'nothing' };
  if (s.route !== undefined && s.route.spec.binding.id === s.binding.id)
    return { kind: 'delete_route', why: 'leaving' };
  if (s.leftBehind.length === 0 || s.departureOverdue) return { kind: 'release' };
  const message = `waiting for these gateway replicas to finish requests in flight: ${s.leftBehind.join(', ')}`;
  return settleAs({ kind: 'leaving', message }, { deadline: true });
}

/** Keeps the current route; the user can still correct the label. */
function refuseId(s: Snapshot): ReconcileStep | undefined {
  if (s.binding.id === undefined || idPattern.test(s.binding.id)) return undefined;
  const message = `the label ${idLabel} is not a UUID of version 7 in lower case`;
  return settleAs({ kind: 'not_accepted', reason: 'InvalidId', message });
}

function adopt(s: Snapshot): ReconcileStep | undefined {
  return s.binding.id === undefined || !s.binding.hasFinalizer ? { kind: 'adopt' } : undefined;
}

/**
 * Removes a route with this name that belongs to another binding, which was deleted: there is only one route for a
 * name.
 */
function dropForeignRoute(s: Snapshot): ReconcileStep | undefined {
  if (s.route === undefined || s.route.spec.binding.id === s.binding.id) return undefined;
  return { kind: 'delete_route', why: 'foreign' };
}

/**
 * A route that does not match the records of the binding, or is missing, is restored from the status, under the same
 * generation and whatever the state of the policy. Where the workload cannot serve yet, a changed route is deleted
 * first: its alias answers 404 until the pinned application runs again.
 */
function restoreRoute(s: Snapshot): ReconcileStep | undefined {
  const { route, pinned } = s;
  if (route !== undefined && isAccountedFor(s, route)) return undefined;
  const draft = restorableDraft(s);
  if (draft !== undefined) {
    return { kind: 'write_route', why: 'restore', draft, generation: 'pinned', previous: route?.previous };
  }
  if (route !== undefined && (pinned !== undefined || route.spec.guardrail.mode === 'None')) {
    return { kind: 'delete_route', why: 'tampered' };
  }
  return undefined;
}

/** Edits that need no application, changed addresses and disabled providers. */
function keepRoute(s: Snapshot): ReconcileStep | undefined {
  if (s.route === undefined) return undefined;
  const draft = keptDraft(s, s.route);
  const { generationId, ...current } = s.route.spec;
  if (sameJson(draft, current)) return undefined;
  return { kind: 'write_route', why: 'keep', draft, generation: 'kept', previous: s.route.previous };
}

function refuseConflict(s: Snapshot): ReconcileStep | undefined {
  const { owner } = s;
  const { alias } = s.binding.spec.model;
  const { gateway } = s.binding.spec;
  switch (owner.kind) {
    case 'owner':
      return undefined;
    case 'alias_conflict':
      return settleAs({
        kind: 'not_accepted',
        reason: 'AliasConflict',
        message: `the alias ${alias} of gateway ${gateway} belongs to the binding ${owner.owner}`,
      });
    case 'id_conflict':
      return settleAs({
        kind: 'not_accepted',
        reason: 'IdConflict',
        message: `the id label of this binding belongs to the binding ${owner.owner}`,
      });
  }
}
