import type { ConditionChange } from '#kube/apply/conditions';
import type { PolicyStanding } from './decide.ts';

type Aspect = Omit<ConditionChange, 'observedGeneration'>;

/** Limit of names in one message. */
const maxNames = 10;

/** The conditions of a policy at the end of a pass, summary first. */
export function policyConditions(standing: PolicyStanding, observedGeneration: number): readonly ConditionChange[] {
  const accepted = acceptedOf(standing);
  const conflict = conflictOf(standing);
  return [readyOf(standing, accepted, conflict), accepted, conflict].map((aspect) => ({
    ...aspect,
    observedGeneration,
  }));
}

function acceptedOf(standing: PolicyStanding): Aspect {
  if (standing.kind === 'invalid') {
    return { type: 'Accepted', status: 'False', reason: standing.reason, message: standing.message };
  }
  return { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'The structure of the policy is valid.' };
}

function conflictOf(standing: PolicyStanding): Aspect {
  if (standing.kind === 'id_conflict') {
    const message = `the id label belongs to the policy ${standing.owner}`;
    return { type: 'IdConflict', status: 'True', reason: 'IdConflict', message };
  }
  return { type: 'IdConflict', status: 'False', reason: 'NoConflict', message: 'No other policy has the id.' };
}

function readyOf(standing: PolicyStanding, accepted: Aspect, conflict: Aspect): Aspect {
  switch (standing.kind) {
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
      const message = `Revision ${standing.revision.number} records this state of the policy.`;
      return { type: 'Ready', status: 'True', reason: 'Recorded', message };
    }
    case 'leaving': {
      const names = standing.references.slice(0, maxNames).join(', ');
      const more = standing.references.length > maxNames ? ` and ${standing.references.length - maxNames} more` : '';
      const message =
        `The policy is being deleted, which cannot be cancelled. Deletion waits for: ${names}${more}. ` +
        'Point these bindings to another policy, or delete them.';
      return { type: 'Ready', status: 'False', reason: 'DeletionHeld', message };
    }
  }
}
