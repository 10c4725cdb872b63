import { missingPostgres } from '#sql/testing/test-server';
import { measureClicks } from '../console/measure-clicks.ts';
import { missingBrowser } from '../support/browser.ts';
import type { Figure } from '../support/figure.ts';

const rounds = { full: 30, small: 5 } as const;
/** Upper bound from a click to the painted outcome, median, milliseconds. */
const mostMs = 300;
/** Upper bound from the report of a gateway to the frame that shows the application, longest time, milliseconds. */
const mostConfirmationMs = 1_000;

export const figure: Figure = {
  name: 'console-clicks',
  title:
    'from a click in the console to the painted outcome, in a real browser, at most 300 ms at the median, and from the report of a gateway to the shown application, at most 1 s, both in full size',
  run: async (size, say) => {
    const missing = missingPostgres ?? missingBrowser;
    if (missing !== undefined) return { skipped: missing };
    const { clicks: reports, confirmations } = await measureClicks(rounds[size], say);
    for (const report of reports) {
      say(`${report.name}: median ${report.medianMs.toFixed(0)} ms, most ${report.mostMs.toFixed(0)} ms`);
    }
    const longest = Math.max(...confirmations);
    say(`from a report to the shown application: most ${longest.toFixed(0)} ms of ${confirmations.length}`);
    const slowest = reports.toSorted((one, other) => other.medianMs - one.medianMs)[0];
    return {
      // On a busy machine the times of the small size are not judged: every click must only be painted.
      holds:
        reports.every(({ medianMs }) => (size === 'small' ? medianMs > 0 : medianMs <= mostMs)) &&
        (size === 'small' || longest <= mostConfirmationMs),
      line: `${reports.length} kinds of clicks, ${rounds[size]} of each: the slowest is ${slowest?.name} with a median of ${slowest?.medianMs.toFixed(0)} ms; from a report to the shown application at most ${longest.toFixed(0)} ms`,
    };
  },
};
