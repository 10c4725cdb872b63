/** A test that was skipped, with its stated reason. */
export type Skip = { readonly test: string; readonly reason: string };

/** The result of one step of the check: passed, failed and skipped tests. */
export type StepOutcome = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skip[];
  /** Ids of requirement rows, each proved by a test that passed. */
  readonly proved: readonly string[];
};

/** A step that consists of one check. */
export function single(passed: boolean): StepOutcome {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [], proved: [] };
}

export function sumOutcomes(outcomes: readonly StepOutcome[]): StepOutcome {
  return {
    passed: outcomes.reduce((sum, outcome) => sum + outcome.passed, 0),
    failed: outcomes.reduce((sum, outcome) => sum + outcome.failed, 0),
    skipped: outcomes.flatMap((outcome) => outcome.skipped),
    proved: [...new Set(outcomes.flatMap((outcome) => outcome.proved))],
  };
}

/** The last line of every check: the counts of all of its steps. */
export function summaryLine(outcome: StepOutcome): string {
  return `${outcome.passed} passed, ${outcome.failed} failed, ${outcome.skipped.length} skipped`;
}

/** One line for each reason of skipped tests, with the number of tests. */
export function skipLines(skips: readonly Skip[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const skip of skips) counts.set(skip.reason, (counts.get(skip.reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `skipped ${count}: ${reason}`);
}
