import type { ConditionChange } from '#kube/apply/conditions';
import type { PolicyResult } from './decide.ts';

type Aspect = Omit<ConditionChange, 'observedGeneration'>;

/** Limit of names in one message. */
const maxNames = 10;

/** The conditions of a policy at the end of a pass, summary first. */
export function policyConditions(result: PolicyResult, observedGeneration: number): readonly ConditionChange[] {
  const accepted = acceptedOf(result);
  const conflict = conflictOf(result);
  return [readyOf(result, accepted, conflict), accepted, conflict].map((aspect) => ({
    ...aspect,
    observedGeneration,
  }));
}

function acceptedOf(result: PolicyResult): Aspect {
  if (result.kind === 'invalid') {
    return { type: 'Accepted', status: 'False', reason: result.reason, message: result.message };
  }
  return { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'The structure of the policy is valid.' };
}

function conflictOf(result: PolicyResult): Aspect {
  if (result.kind === 'id_conflict') {
    const message = `the id label belongs to the policy ${result.owner}`;
    return { type: 'IdConflict', status: 'True', reason: 'IdConflict', message };
  }
  return { type: 'IdConflict', status: 'False', reason: 'NoConflict', message: 'No other policy has the id.' };
}

function readyOf(result: PolicyResult, accepted: Aspect, conflict: Aspect): Aspect {
  switch (result.kind) {
    case 'invalid':
      return { ...accepted, type: 'Ready' };
    case 'id_conflict':
      return { ...conflict, type: 'Ready', status: 'False' };
    case 'held':
      return {
        type: 'Ready',
        status: 'Unknown',
        reason: 'WaitingForRecord',
        message: 'waiting for an earlier write of the management API to be recorded',
      };
    case 'recorded': {
      const message = `Revision ${result.revision.number} records this state of the policy.`;
      return { type: 'Ready', status: 'True', reason: 'Recorded', message };
    }
    case 'leaving': {
      const names = result.references.slice(0, maxNames).join(', ');
      const more = result.references.length > maxNames ? ` and ${result.references.length - maxNames} more` : '';
      const message =
        `The policy is being deleted, which cannot be cancelled. Deletion waits for: ${names}${more}. ` +
        'Point these bindings to another policy, or delete them.';
      return { type: 'Ready', status: 'False', reason: 'DeletionHeld', message };
    }
  }
}
