import { missingPostgres } from '#sql/testing/test-server';
import { measureClicks } from '../console/measure-clicks.ts';
import { missingBrowser } from '../support/browser.ts';
import type { Figure } from '../support/figure.ts';

const rounds = { full: 30, small: 5 } as const;
/** From a click to the painted outcome, median, milliseconds. */
const mostMs = 300;

export const figure: Figure = {
  name: 'console-clicks',
  title:
    'from a click in the console to the painted outcome, in a real browser: at most 300 ms at the median in full size',
  run: async (size, say) => {
    const missing = missingPostgres ?? missingBrowser;
    if (missing !== undefined) return { skipped: missing };
    const reports = await measureClicks(rounds[size], say);
    for (const report of reports) {
      say(`${report.name}: median ${report.medianMs.toFixed(0)} ms, most ${report.mostMs.toFixed(0)} ms`);
    }
    const slowest = reports.toSorted((one, other) => other.medianMs - one.medianMs)[0];
    return {
      // A busy machine does not judge the small size: there, every click must be painted.
      holds: reports.every(({ medianMs }) => (size === 'small' ? medianMs > 0 : medianMs <= mostMs)),
      line: `${reports.length} kinds of clicks, ${rounds[size]} of each: the slowest is ${slowest?.name} with a median of ${slowest?.medianMs.toFixed(0)} ms`,
    };
  },
};
