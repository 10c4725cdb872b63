/** A served policy whose requested revision is not served. */
export type ServedFailure = {
  readonly name: string;
  /** The GuardrailPolicy that the entry names. */
  readonly policy: string;
  readonly message: string;
};

export type ServedFailures = {
  /** The failures of the entries that name a policy, sorted by entry. */
  ofPolicy(policy: string): readonly ServedFailure[];
};

/**
 * The served policies whose last pass failed, in memory: the first pass after a start finds them again.
 * @param onChange called with the policy whose failures changed
 */
export function createServedFailures(onChange: (policy: string) => void) {
  const failures = new Map<string, ServedFailure>();
  return {
    ofPolicy: (policy: string): readonly ServedFailure[] =>
      [...failures.values()].filter((one) => one.policy === policy).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    set(failure: ServedFailure): void {
      const before = failures.get(failure.name);
      failures.set(failure.name, failure);
      if (before !== undefined && before.policy !== failure.policy) onChange(before.policy);
      if (before?.policy !== failure.policy || before.message !== failure.message) onChange(failure.policy);
    },
    clear(name: string): void {
      const before = failures.get(name);
      if (!failures.delete(name) || before === undefined) return;
      onChange(before.policy);
    },
  };
}
