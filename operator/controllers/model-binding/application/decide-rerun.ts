import { type ApplicationProgress, progressOf } from '../../../acceptance/decide-progress.ts';
import { type Application, pinnedApplication } from '../../../applications/application.ts';
import { canRestore, newDraft } from '../route/decide-route.ts';
import { guardedPin } from '../route/pinned-route.ts';
import type { RouteView, Snapshot } from '../snapshot/snapshot.ts';
import type { ReconcileStep } from '../snapshot/steps.ts';

/** The pinned workload is missing or of another build: its application is started again. */
export function runPinnedAgain(s: Snapshot): ReconcileStep | undefined {
  const pinned = applicationToRerun(s);
  if (pinned === undefined) return undefined;
  const progress = progressOf(s, 'pinned', pinned);
  if (progress.kind === 'step') return progress.step;
  if (progress.kind !== 'ready') return undefined;
  const draft = { ...newDraft(s, pinned, progress), ...(s.route === undefined ? {} : refusalOf(s.route)) };
  return { kind: 'write_route', why: 'run_again', draft, generation: 'new', previous: undefined };
}

function applicationToRerun(s: Snapshot): Application | undefined {
  const { route } = s;
  if (route === undefined) return canRestore(s) ? guardedPin(s.pinned?.record) : undefined;
  if (route.spec.guardrail.mode === 'None' || route.workload?.runnable !== false) return undefined;
  return pinnedApplication(route.spec);
}

function rerunOf(s: Snapshot): ApplicationProgress | undefined {
  const pinned = applicationToRerun(s);
  return pinned === undefined ? undefined : progressOf(s, 'pinned', pinned);
}

function refusalOf(route: RouteView) {
  return route.spec.refused === undefined ? {} : { refused: route.spec.refused };
}

/** Why the pinned application cannot be started again; absent if it can. */
export function degradedBy(s: Snapshot): string | undefined {
  const progress = rerunOf(s);
  switch (progress?.kind) {
    case undefined:
    case 'step':
    case 'ready':
      return undefined;
    case 'waiting':
    case 'failed':
      return `the applied revision is being started on build ${s.build}: ${progress.message}`;
  }
}
