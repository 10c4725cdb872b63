import { progressOf } from '../../acceptance/decide-progress.ts';
import type { AcceptanceStep, ApplicationRole, ProgressSnapshot, WorkloadView } from '../../acceptance/snapshot.ts';
import type { Application } from '../../applications/application.ts';
import type { ServedPolicy } from '../../environment/served-policies.ts';
import type { ServedPin } from '../../served/ports.ts';

/** Maximum number of previous workloads that an address records; a further move drops the oldest. */
const maxPrevious = 8;

export type ServedSnapshot = ProgressSnapshot & {
  /** The entry in the list of served policies; absent if the list no longer contains it. */
  readonly entry: ServedPolicy | undefined;
  /** Versions of agents that name the entry; read only for an entry that is not listed. */
  readonly versions: readonly string[];
  /** The target of the address; absent before the first application. */
  readonly pin: ServedPin | undefined;
  /** The workload to which the address resolves. */
  readonly pinned: WorkloadView | undefined;
  /** Previous workloads that no client uses. */
  readonly drained: readonly string[];
  /** Reason of the earlier failure of this application; absent if it did not fail. */
  readonly failure: string | undefined;
};

export type ServedResult =
  | { readonly kind: 'served' }
  /** The file no longer lists the entry, and versions of agents name it: it remains served. */
  | { readonly kind: 'unlisted'; readonly versions: readonly string[] }
  | { readonly kind: 'waiting'; readonly message: string }
  /** `isRetried`: a provider does not answer yet. */
  | { readonly kind: 'failed'; readonly message: string; readonly isRetried?: boolean };

type ServedStep =
  | { readonly kind: 'withdraw' }
  /** The address resolves to another workload from now on. */
  | { readonly kind: 'move'; readonly pin: ServedPin }
  | { readonly kind: 'try'; readonly step: AcceptanceStep }
  /** The address keeps its target and drops workloads that have drained. */
  | { readonly kind: 'settle'; readonly pin: ServedPin | undefined; readonly result: ServedResult };

/**
 * The next step of a policy that is served directly: its address moves only to a workload that is ready and passed its tests.
 * An entry that was removed from the file keeps its target while versions of agents name it, because their calls would be
 * refused without it.
 */
export function decideServed(s: ServedSnapshot): ServedStep {
  const { entry, pin } = s;
  if (entry === undefined) {
    const { versions } = s;
    const isKept = pin !== undefined && versions.length > 0;
    return isKept ? settle(s, { kind: 'unlisted', versions }) : { kind: 'withdraw' };
  }
  if (pin === undefined || !isPinned(entry, pin, s)) return advance(s, entry, 'desired');
  return s.pinned?.runnable === true ? settle(s, { kind: 'served' }) : advance(s, entry, 'pinned');
}

/** The application that the entry requests; the id of a policy that cannot be found is unknown. */
export function servedApplication(entry: ServedPolicy, s: Pick<ServedSnapshot, 'policy'>): Application {
  const policyId = s.policy.kind === 'found' ? s.policy.id : undefined;
  const { contentProfile, policyRef, apply = '' } = entry;
  return {
    token: apply,
    content: { mode: 'Policy', policyId, policyRevision: String(policyRef.revision), contentProfile },
  };
}

/** Whether the address resolves to the desired application; an unknown policy id counts as equal. */
function isPinned(entry: ServedPolicy, pin: ServedPin, s: ServedSnapshot): boolean {
  const { policy } = s;
  if (pin.limits === undefined) return false;
  if (policy.kind === 'found' && policy.id !== undefined && policy.id !== pin.policyId) return false;
  return (
    pin.policyRevision === String(entry.policyRef.revision) &&
    pin.contentProfile === entry.contentProfile &&
    pin.token === (entry.apply ?? '')
  );
}

function advance(s: ServedSnapshot, entry: ServedPolicy, target: ApplicationRole): ServedStep {
  if (s.failure !== undefined) return settle(s, { kind: 'failed', message: s.failure });
  const application = target === 'pinned' && s.pin !== undefined ? pinApplication(s.pin) : servedApplication(entry, s);
  const progress = progressOf(s, target, application);
  switch (progress.kind) {
    case 'step':
      return { kind: 'try', step: progress.step };
    case 'waiting':
      return settle(s, { kind: 'waiting', message: progress.message });
    case 'failed':
      return settle(s, {
        kind: 'failed',
        message: progress.message,
        isRetried: progress.reason === 'provider_unavailable',
      });
    case 'ready': {
      const { guardrail, workload, division } = progress;
      if (guardrail.mode === 'None' || workload === undefined || division === undefined)
        throw new TypeError('a served policy has no workload to route to, or its validation is not complete');
      const { policyId, policyRevision, digest, maxBodyBytes, maxMessages, deadlineMs, streaming } = guardrail;
      const limits = { maxBodyBytes, maxMessages, deadlineMs, division, streaming };
      const { token, content } = application;
      const { contentProfile } = content;
      return {
        kind: 'move',
        pin: {
          workload,
          previous: previousOf(s, workload),
          policyId,
          policyRevision,
          contentProfile,
          digest,
          token,
          limits,
        },
      };
    }
  }
}

function pinApplication({ token, policyId, policyRevision, contentProfile }: ServedPin): Application {
  return { token, content: { mode: 'Policy', policyId, policyRevision, contentProfile } };
}

function previousOf({ pin, drained }: ServedSnapshot, next: string): string[] {
  if (pin === undefined) return [];
  const before = [pin.workload, ...pin.previous].filter((name) => name !== next && !drained.includes(name));
  return [...new Set(before)].slice(0, maxPrevious);
}

function settle(s: ServedSnapshot, result: ServedResult): ServedStep {
  if (s.pin === undefined) return { kind: 'settle', pin: undefined, result };
  const previous = s.pin.previous.filter((name) => !s.drained.includes(name));
  return { kind: 'settle', pin: { ...s.pin, previous }, result };
}
