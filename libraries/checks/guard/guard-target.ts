import type { Stage } from '#contracts/policy';
import type { ServedTarget } from '#contracts/served-target';
import type { CheckTarget } from '../check-target.ts';
import { servedCheckTarget } from '../served-target.ts';

/**
 * How a text that is larger than one check is judged: in overlapping pieces, whose masks equal those of the whole text;
 * in the windows of a stream, where a mask counts as a deny; or not at all.
 */
export type LongTexts = 'pieces' | 'windows' | 'refused';

/** The target of checks of texts of any length. */
export type GuardTarget = CheckTarget & { readonly longTexts: LongTexts };

/** The target of one stage of a served policy. */
export function servedGuardTarget(served: ServedTarget, stage: Stage): GuardTarget {
  const { division, streaming } = served;
  const windows = streaming?.allowed === true ? 'windows' : 'refused';
  const pieces = division.allowed ? 'pieces' : 'refused';
  return { ...servedCheckTarget(served, stage), longTexts: stage === 'request' ? pieces : windows };
}
