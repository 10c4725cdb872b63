import { describeProblem } from '#contracts/describe-problem';
import type { Stage } from '#contracts/policy';

/**
 * The reason why a bundle is refused, and its place in the bundle. Names policies and rules, never texts of users or
 * secrets.
 */
export type BundleProblem = {
  readonly code: 'bundle_invalid' | 'rule_too_costly';
  /** Reason and remedy, without the place. */
  readonly message: string;
  readonly policyId?: string;
  readonly stage?: Stage;
  readonly rule?: string;
};

/** A warning about a bundle for its author that does not refuse the bundle. */
export type BundleWarning = Omit<BundleProblem, 'code'>;

/** Maximum number of problems in the message of an error; the others are only counted. */
const spelledOut = 10;

/** A bundle cannot be loaded. The message holds the reason and fits a termination message (at most 4,096 bytes). */
export class BundleError extends Error {
  override readonly name = 'BundleError';
  readonly code: BundleProblem['code'] | 'bundle_unreadable';
  readonly problems: readonly BundleProblem[];

  constructor(code: BundleError['code'], message: string, problems: readonly BundleProblem[] = []) {
    super(message.slice(0, 4_000));
    this.code = code;
    this.problems = problems;
  }
}

/** The error of a bundle with problems. */
export function refusedBundle(problems: readonly BundleProblem[]): BundleError {
  const sentences = problems.slice(0, spelledOut).map((problem) => describeProblem(problem, problem.policyId));
  const more = problems.length - sentences.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  return new BundleError(problems[0]?.code ?? 'bundle_invalid', `${sentences.join('; ')}${rest}`, problems);
}
