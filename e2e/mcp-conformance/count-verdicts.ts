/** The result of one check, or of a whole suite that this machine cannot install. */
export type CheckVerdict = {
  readonly name: string;
  readonly kind: 'passed' | 'failed' | 'expected' | 'unavailable';
  /** The reason why the check failed, must fail, or did not run. */
  readonly words: string;
};

const signs = { passed: 'ok', failed: 'FAILS', expected: 'expected failure', unavailable: 'not available' } as const;

/** One line for each verdict, and the counts as the last line: checks that could not run count as skipped. */
export function countVerdicts(verdicts: readonly CheckVerdict[]): {
  readonly lines: readonly string[];
  readonly failed: number;
} {
  const count = (...kinds: readonly CheckVerdict['kind'][]): number =>
    verdicts.filter(({ kind }) => kinds.includes(kind)).length;
  const failed = count('failed');
  const lines = verdicts.map(({ name, kind, words }) => `${signs[kind]} ${name}${words === '' ? '' : `: ${words}`}`);
  const counts = `${count('passed')} passed, ${failed} failed, ${count('expected', 'unavailable')} skipped`;
  return { lines: [...lines, counts], failed };
}
