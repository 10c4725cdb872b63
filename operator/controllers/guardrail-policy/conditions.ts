import type { ConditionChange } from '#kube/apply/conditions';
import { keepAnnotation } from '#resources/kinds';
import type { ServedFailure } from '../../served/served-failures.ts';
import type { UnlistedPolicy } from '../../served/unlisted-policies.ts';
import type { PolicyResult } from './decide.ts';
import type { PolicyJudgement } from './judgements.ts';

/** The names under which services call a policy, and those that the list of served policies no longer has. */
export type ServedNames = {
  readonly names: readonly string[];
  readonly unlisted: readonly UnlistedPolicy[];
  /** Names whose requested revision is not served. */
  readonly failed: readonly ServedFailure[];
};

type Aspect = Omit<ConditionChange, 'observedGeneration'>;

/** Maximum number of names in one message. */
const maxNames = 10;

/** Maximum number of warnings in one message. */
const maxWarnings = 10;

/**
 * The conditions of a policy at the end of a pass, summary first. Until the judgement is known, the conditions of an
 * earlier generation are kept, with the observedGeneration of that generation.
 */
export function policyConditions(
  result: PolicyResult,
  { judgement, served }: { readonly judgement: PolicyJudgement | undefined; readonly served: ServedNames },
  observedGeneration: number,
): readonly ConditionChange[] {
  const accepted = acceptedOf(result);
  const conflict = conflictOf(result);
  const judged = judgement === undefined ? [] : judgementAspects(judgement);
  return [readyOf(result, accepted, conflict), accepted, conflict, ...judged, ...servedAspects(served)].map(
    (aspect) => ({
      ...aspect,
      observedGeneration,
    }),
  );
}

/** The condition `Served`: each served name of the policy is listed and serves its requested revision. Absent without a name. */
function servedAspects({ names, unlisted, failed }: ServedNames): readonly Aspect[] {
  const type = 'Served';
  if (failed.length > 0) {
    const more = failed.length > maxNames ? [`and ${failed.length - maxNames} more`] : [];
    const message = [...failed.slice(0, maxNames).map((one) => one.message), ...more].join(' ');
    return [{ type, status: 'False', reason: 'ServedPolicyFailed', message }];
  }
  const [first] = unlisted;
  if (first !== undefined) {
    const versions = first.versions.slice(0, maxNames).join(', ');
    const more = first.versions.length > maxNames ? ` and ${first.versions.length - maxNames} more` : '';
    const message =
      `The served policy ${first.name} is no longer listed. It remains served because versions of agents name it: ` +
      `${versions}${more}. Their calls would be refused without it.`;
    return [{ type, status: 'False', reason: 'ServedPolicyUnlisted', message }];
  }
  const message = 'Every name under which the policy is served is listed.';
  return names.length === 0 ? [] : [{ type, status: 'True', reason: 'Listed', message }];
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

/** Whether the rules would be admitted, and warnings for the author of the rules. */
function judgementAspects(judgement: PolicyJudgement): readonly Aspect[] {
  if (judgement.kind === 'refused') {
    const { message } = judgement;
    const unknown = 'The rules are not valid: there are no further warnings.';
    return [
      { type: 'Valid', status: 'False', reason: refusalReasons[judgement.reason], message },
      { type: 'Warnings', status: 'False', reason: 'NotValid', message: unknown },
    ];
  }
  const { warnings } = judgement;
  const more = warnings.length > maxWarnings ? [`and ${warnings.length - maxWarnings} more`] : [];
  return [
    { type: 'Valid', status: 'True', reason: 'Valid', message: 'The rules compile and their cost is admitted.' },
    warnings.length === 0
      ? { type: 'Warnings', status: 'False', reason: 'NoWarnings', message: 'There is no warning about the rules.' }
      : {
          type: 'Warnings',
          status: 'True',
          reason: 'RulesHaveWarnings',
          message: [...warnings.slice(0, maxWarnings), ...more].join('; '),
        },
  ];
}

const refusalReasons = {
  bundle_invalid: 'BundleInvalid',
  rule_too_costly: 'RuleTooCostly',
  provider_unknown: 'ProviderUnknown',
  profile_unsupported: 'ProfileUnsupported',
} as const satisfies Record<Extract<PolicyJudgement, { kind: 'refused' }>['reason'], string>;

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
        `The policy is being deleted. Deletion waits for: ${names}${more}. To keep the policy, apply it again with ` +
        `portcullis, or set its annotation ${keepAnnotation} to ${result.deletedAt}. To complete the deletion, point the bindings ` +
        'to another policy or delete them, and delete the versions of agents.';
      return { type: 'Ready', status: 'False', reason: 'DeletionHeld', message };
    }
  }
}
