import { missingPostgres } from '#sql/testing/test-server';
import { measureReads } from '../management/measure-reads.ts';
import type { Figure } from '../support/figure.ts';

const sizes = { full: { policies: 10_000, rounds: 1_000 }, small: { policies: 1_000, rounds: 200 } } as const;
/** A list or read takes at most so many times of a bare answer and one GET of the resource. */
const most = 3;

export const figure: Figure = {
  name: 'management-reads',
  title: 'lists and single reads of the policy management API over many policies',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const report = await measureReads({ ...sizes[size], say });
    const ms = (value: number): string => value.toFixed(2);
    const line =
      `${report.policies} policies: bare answer ${ms(report.bareMs)} ms and GET ${ms(report.serverGetMs)} ms; list ` +
      `${ms(report.listMs)} ms (${report.listTimes.toFixed(2)} times), read ${ms(report.readMs)} ms ` +
      `(${report.readTimes.toFixed(2)} times), 95 of 100; a walk of ${report.visited} while ${report.madeMeanwhile} were ` +
      `made: ${report.twice} twice, ${report.missed} missed`;
    const isFast = size === 'small' || Math.max(report.listTimes, report.readTimes) <= most;
    return { holds: isFast && report.twice === 0 && report.missed === 0, line };
  },
};
