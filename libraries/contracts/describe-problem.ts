import type { Stage } from './policy.ts';

/** A problem of a bundle, and its place in the bundle. The message has the reason and the remedy, without the place. */
export type PlacedMessage = {
  readonly policyId?: string | undefined;
  readonly stage?: Stage | undefined;
  readonly rule?: string | undefined;
  readonly message: string;
};

/**
 * One sentence: policy, section and rule, if they are known, then reason and remedy. `policy` is the name that readers
 * see; without it the sentence names no policy.
 */
export function describeProblem({ stage, rule, message }: PlacedMessage, policy: string | undefined): string {
  const place = [
    policy === undefined ? [] : `policy ${policy}`,
    stage === undefined ? [] : `${stage} section`,
    rule === undefined ? [] : `rule ${rule}`,
  ].flat();
  return place.length === 0 ? message : `${place.join(', ')}: ${message}`;
}
