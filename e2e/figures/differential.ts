import { fileURLToPath } from 'node:url';
import type { Difference } from '../differential/compare-engines.ts';
import { runDifferential } from '../differential/run-differential.ts';
import type { Figure } from '../support/figure.ts';
import { preparePython } from '../support/python.ts';

const requirements = fileURLToPath(new URL('../differential/requirements.txt', import.meta.url));
const seed = 4;
const pairs = { full: 200_000, small: 5_000 } as const;
/** Minimum percentage of pairs that match; otherwise mostly refusals would be compared. */
const matchingShare = 30;

export const figure: Figure = {
  name: 'differential',
  title: 'the engine of the runtime against google-re2 1.1.20251105 on generated patterns and texts',
  run: async (size, say) => {
    const python = await preparePython(requirements);
    if (!python.ok) return { skipped: python.reason };
    const report = await runDifferential({ python: python.path, pairs: pairs[size], seed, say });
    for (const difference of report.shortest) say(shown(difference));
    if (report.unmatchedRows.length > 0) say(`no match for ${report.unmatchedRows.join('  ')}`);
    const share = (100 * report.matching) / report.pairs;
    const line =
      `${report.pairs} pairs of pattern and text, ${share.toFixed(0)} % matching, ${report.accepted} patterns accepted ` +
      `and ${report.refused} refused, ${report.rows} rows of syntax, seed ${seed}: ${report.differences} differences`;
    const complete = report.pairs >= pairs[size] && share >= matchingShare && report.unmatchedRows.length === 0;
    return { holds: report.differences === 0 && complete, line };
  },
};

function shown({ pattern, caseSensitive, text, here, reference }: Difference): string {
  const about = text === undefined ? '' : ` and the text ${JSON.stringify(text)}`;
  const mode = caseSensitive ? 'with' : 'without';
  return `${JSON.stringify(pattern)} ${mode} case${about}: here ${here || 'no match'}, google-re2 ${reference || 'no match'}`;
}
