import type { CheckTarget } from '#checks/client';
import type { Stage } from '#contracts/policy';

/** The served policies that a version names. */
export type PolicyTargets = {
  /** Undefined for a policy that the version does not name: nothing may be sent then. */
  target(name: string, stage: Stage): CheckTarget | undefined;
};
