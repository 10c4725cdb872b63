import type { CheckVerdict } from './count-verdicts.ts';
import type { ExpectedFailure } from './expected-checks.ts';

/** A check as the suite reports it; INFO reports only the sent message. */
export type ReportedCheck = {
  readonly scenario: string;
  readonly id: string;
  readonly status: string;
  readonly message: string;
};

type Expected = {
  readonly passes: readonly string[];
  readonly failures: Readonly<Record<string, ExpectedFailure>>;
};

/** One verdict for each reported and each expected check: a check that differs from the expectation has failed. */
export function compareChecks(
  checks: readonly ReportedCheck[],
  { passes, failures }: Expected,
): readonly CheckVerdict[] {
  const reported = checks.filter(({ status }) => status !== 'INFO');
  const names = reported.map(nameOf);
  const verdicts = reported.map((check, at): CheckVerdict => {
    const name = nameOf(check);
    if (names.indexOf(name) !== at) return { name, kind: 'failed', words: 'is reported twice' };
    const expected = failures[name];
    if (expected === undefined && check.status === 'SUCCESS') {
      if (passes.includes(name)) return { name, kind: 'passed', words: '' };
      return { name, kind: 'failed', words: 'is not in the list of expected checks: add it' };
    }
    if (expected === undefined) return { name, kind: 'failed', words: check.message };
    if (check.status === 'SUCCESS') return { name, kind: 'failed', words: 'succeeds now: move it to the passes' };
    if (!check.message.includes(expected.message)) {
      return { name, kind: 'failed', words: `fails for another reason: ${check.message}` };
    }
    return { name, kind: 'expected', words: expected.reason };
  });
  const absent = [...passes, ...Object.keys(failures)].filter((name) => !names.includes(name));
  return [...verdicts, ...absent.map((name): CheckVerdict => ({ name, kind: 'failed', words: 'is not reported' }))];
}

function nameOf({ scenario, id }: ReportedCheck): string {
  return `${scenario} ${id}`;
}
