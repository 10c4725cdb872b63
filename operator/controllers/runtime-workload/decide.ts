import type { WorkloadProblemReason } from '../../workloads/ports.ts';
import type { WorkloadSnapshot } from './snapshot.ts';

type WorkloadStep =
  /** The workload is needed again: this step removes the mark and sets the number of processes. */
  | { readonly kind: 'keep'; readonly replicas: number }
  | { readonly kind: 'mark' }
  /** The workload is not needed according to the caches: confirm that with live reads, then delete it. */
  | { readonly kind: 'remove' }
  | { readonly kind: 'run' }
  /** The stored bundle is missing: build it again. */
  | { readonly kind: 'restore_bundle' }
  | { readonly kind: 'settle'; readonly result: WorkloadResult };

export type WorkloadResult =
  | { readonly kind: 'build_missing' }
  | { readonly kind: 'bundle_missing' }
  | { readonly kind: 'starting'; readonly message: string; readonly problem: WorkloadProblemReason | undefined }
  | { readonly kind: 'ready' }
  /** The workload is no longer needed, but these gateway replicas still use it. */
  | { readonly kind: 'in_use'; readonly by: readonly string[] };

/**
 * The next step of a workload (docs/design/workloads.md). Routes and applications need it; a workload that is not
 * needed drains until no replica uses it, is marked, and is then deleted.
 */
export function decideWorkload(s: WorkloadSnapshot): WorkloadStep {
  if (s.deleting) return settleRunning(s);
  if (s.need.askers.length > 0) return keep(s) ?? restore(s) ?? run(s) ?? settleRunning(s);
  if (s.spec.state === 'Draining') return { kind: 'remove' };
  const usedBy = [...new Set([...s.users, ...s.behind])];
  if (usedBy.length === 0 || s.drained) return { kind: 'mark' };
  return restore(s) ?? run(s) ?? settle({ kind: 'in_use', by: usedBy });
}

function keep(s: WorkloadSnapshot): WorkloadStep | undefined {
  const { replicas } = s.need;
  if (s.spec.state === 'Active' && s.spec.replicas === replicas) return undefined;
  return { kind: 'keep', replicas };
}

/** Running processes do not read the bundle again; new processes do. */
function restore(s: WorkloadSnapshot): WorkloadStep | undefined {
  return s.runnable && s.bundle === 'lost' ? { kind: 'restore_bundle' } : undefined;
}

/** Processes start as soon as the object is seen. */
function run(s: WorkloadSnapshot): WorkloadStep | undefined {
  return s.runnable && s.observed === undefined ? { kind: 'run' } : undefined;
}

function settleRunning(s: WorkloadSnapshot): WorkloadStep {
  if (!s.runnable) return settle({ kind: 'build_missing' });
  const ready = s.observed?.ready ?? 0;
  if (ready >= s.spec.replicas) return settle({ kind: 'ready' });
  if (s.bundle === 'unrecoverable') return settle({ kind: 'bundle_missing' });
  const problem = s.observed?.problem;
  const message = `${ready} of ${s.spec.replicas} processes are ready`;
  if (problem === undefined) return settle({ kind: 'starting', message, problem: undefined });
  return settle({ kind: 'starting', message: `${message}: ${problem.message}`, problem: problem.reason });
}

function settle(result: WorkloadResult): WorkloadStep {
  return { kind: 'settle', result };
}
