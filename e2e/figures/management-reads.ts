import { missingPostgres } from '#sql/testing/test-server';
import { missingApiServer } from '../kube/open-api-server.ts';
import { measureReads, openMeasuredCluster, openMeasuredFolder, type ReadReport } from '../management/measure-reads.ts';
import type { Figure } from '../support/figure.ts';

const sizes = { full: { policies: 10_000, rounds: 1_000 }, small: { policies: 1_000, rounds: 200 } } as const;
/** Upper bound of the time of a list or read, as a multiple of an empty response plus one GET of the resource. */
const most = 3;

export const figure: Figure = {
  name: 'management-reads',
  title: 'lists and single reads of the policy management API over many policies on a real API server',
  run: async (size, say) => {
    const missing = missingPostgres ?? missingApiServer;
    if (missing !== undefined) return { skipped: missing };
    // Standalone reads use the same code; they are measured in the full size only.
    const folder = size === 'full' ? await measureReads({ open: openMeasuredFolder, ...sizes[size], say }) : undefined;
    if (folder !== undefined) say(`on a folder: ${lineOf(folder)}`);
    const cluster = await measureReads({ open: openMeasuredCluster, ...sizes[size], say });
    const reports = [cluster, ...(folder === undefined ? [] : [folder])];
    return {
      holds: reports.every((report) => isWhole(report) && (size === 'small' || isFast(report))),
      line: lineOf(cluster),
    };
  },
};

function isFast({ listTimes, readTimes }: ReadReport): boolean {
  return Math.max(listTimes, readTimes) <= most;
}

function isWhole({ twice, missed }: ReadReport): boolean {
  return twice === 0 && missed === 0;
}

function lineOf(report: ReadReport): string {
  const ms = (value: number): string => value.toFixed(2);
  return (
    `${report.policies} policies: bare answer ${ms(report.bareMs)} ms and GET ${ms(report.serverGetMs)} ms; list ` +
    `${ms(report.listMs)} ms (${report.listTimes.toFixed(2)} times), read ${ms(report.readMs)} ms ` +
    `(${report.readTimes.toFixed(2)} times), 95th percentiles; a listing of ${report.visited} while ${report.madeMeanwhile} were ` +
    `created: ${report.twice} repeated, ${report.missed} missed`
  );
}
