import type { GuardTarget } from '#checks/guard/guard-target';
import type { Stage } from '#contracts/policy';

/** The served policies that a version names. */
export type PolicyTargets = {
  /** The target of a policy; undefined if the version does not name the policy, and then no text may be sent. */
  target(name: string, stage: Stage): GuardTarget | undefined;
  /** Whether the policy judges streamed text in windows as it judges the whole text; false for an unknown policy. */
  judgesWindows(name: string): boolean;
};
