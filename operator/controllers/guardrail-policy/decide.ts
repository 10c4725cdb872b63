import { idPattern } from '#resources/admission-rules';
import type { IdClaimant, PolicySnapshot, RecordedView } from './snapshot.ts';

export type PolicyResult =
  | { readonly kind: 'id_conflict'; readonly owner: string }
  | { readonly kind: 'invalid'; readonly reason: 'InvalidId' | 'InvalidSpec'; readonly message: string }
  | { readonly kind: 'held' }
  | { readonly kind: 'recorded'; readonly revision: RecordedView }
  | { readonly kind: 'leaving'; readonly references: readonly string[]; readonly deletedAt: string };

type PolicyStep =
  | { readonly kind: 'adopt' }
  | { readonly kind: 'record' }
  | { readonly kind: 'find_references' }
  | { readonly kind: 'release' }
  /** The recorded content outlives the object, which is created again. */
  | { readonly kind: 'take_back'; readonly from: RecordedView }
  | { readonly kind: 'settle'; readonly result: PolicyResult }
  | { readonly kind: 'nothing' };

/** Maximum number of problems in one message. */
const maxProblems = 10;

type Phase = (s: PolicySnapshot) => PolicyStep | undefined;

/** The steps are tried in this order; the first that returns a result decides. */
const phases: readonly Phase[] = [
  ignoreReleased,
  adopt,
  refuseId,
  refuseNamesake,
  leaveUnrecorded,
  record,
  takeBack,
  leave,
];

/** The next step of a policy (docs/design/revisions.md). */
export function decidePolicy(s: PolicySnapshot): PolicyStep {
  for (const phase of phases) {
    const step = phase(s);
    if (step !== undefined) return step;
  }
  const { recorded } = s;
  if (recorded === undefined || recorded === 'held') return settle({ kind: 'held' });
  return settle({ kind: 'recorded', revision: recorded });
}

function ignoreReleased(s: PolicySnapshot): PolicyStep | undefined {
  return s.deleting && !s.hasFinalizer ? { kind: 'nothing' } : undefined;
}

function adopt(s: PolicySnapshot): PolicyStep | undefined {
  if (s.deleting) return undefined;
  return s.id === undefined || !s.hasFinalizer ? { kind: 'adopt' } : undefined;
}

function refuseId(s: PolicySnapshot): PolicyStep | undefined {
  if (s.deleting || s.id === undefined || idPattern.test(s.id)) return undefined;
  const message = 'the id label is not a UUID of version 7 in lower case';
  return settle({ kind: 'invalid', reason: 'InvalidId', message });
}

/**
 * If two policies have one id, the policy that owns the revisions keeps the id; if neither owns them, the policy whose
 * name is first.
 */
function refuseNamesake(s: PolicySnapshot): PolicyStep | undefined {
  if (s.namesakes.length === 0 || s.deleting) return undefined;
  const owner = ownerOf([{ name: s.name, uid: s.uid }, ...s.namesakes], s.newest);
  return owner === s.name ? undefined : settle({ kind: 'id_conflict', owner });
}

function ownerOf(claimants: readonly IdClaimant[], newest: PolicySnapshot['newest']): string {
  const byUid = claimants.find((claimant) => claimant.uid === newest?.policy.uid);
  const byName = claimants.find((claimant) => claimant.name === newest?.policy.name);
  const [first = ''] = claimants.map((claimant) => claimant.name).toSorted();
  return (byUid ?? byName)?.name ?? first;
}

/** A policy that was never accepted has nothing to record before its deletion. */
function leaveUnrecorded(s: PolicySnapshot): PolicyStep | undefined {
  const isSomebodyElses = s.namesakes.length > 0 && ownerOf([s, ...s.namesakes], s.newest) !== s.name;
  const hasNoId = s.id === undefined || !idPattern.test(s.id);
  return s.deleting && (isSomebodyElses || hasNoId) ? { kind: 'release' } : undefined;
}

function record(s: PolicySnapshot): PolicyStep | undefined {
  if (s.problems.length > 0) {
    if (s.deleting && !s.isKept) return undefined;
    const rest = s.problems.length > maxProblems ? [`and ${s.problems.length - maxProblems} more`] : [];
    const message = [...s.problems.slice(0, maxProblems), ...rest].join('; ');
    return settle({ kind: 'invalid', reason: 'InvalidSpec', message });
  }
  return s.recorded === undefined ? { kind: 'record' } : undefined;
}

/** References do not hold this deletion: the policy is created again immediately, under the same name and id. */
function takeBack(s: PolicySnapshot): PolicyStep | undefined {
  if (!s.deleting || !s.isKept || s.recorded === undefined || s.recorded === 'held') return undefined;
  return { kind: 'take_back', from: s.recorded };
}

/** A finalizer delays the deletion until no object refers to the policy. */
function leave(s: PolicySnapshot): PolicyStep | undefined {
  if (!s.deleting || s.recorded === 'held') return undefined;
  if (s.references === undefined) return { kind: 'find_references' };
  if (s.references.length === 0) return { kind: 'release' };
  return settle({ kind: 'leaving', references: s.references, deletedAt: s.deletedAt ?? '' });
}

function settle(result: PolicyResult): PolicyStep {
  return { kind: 'settle', result };
}
