import { join } from 'node:path';
import { missingPostgres } from '#sql/testing/test-server';
import { installLocked } from '../../hack/install-locked.ts';
import { missingOpenSearch, startOpenSearch } from '../retrieval/opensearch-server.ts';
import type { SpeedCase, SpeedReport } from '../retrieval-speed/case.ts';
import { readCorpus } from '../retrieval-speed/chunks.ts';
import { measurePostgres } from '../retrieval-speed/measure-postgres.ts';
import { runCase } from '../retrieval-speed/run-case.ts';
import type { Timings } from '../retrieval-speed/timings.ts';
import type { Figure } from '../support/figure.ts';

type Bounded = {
  readonly what: string;
  readonly measured: number;
  /** The largest permitted value. */
  readonly bound: number;
};
type Case = {
  readonly given: SpeedCase;
  /** The bounded values of the report; cases without bounds are only published. */
  readonly bounds: (report: SpeedReport) => readonly Bounded[];
  readonly compared: boolean;
};

/** 700 MB. */
const mostResidentMib = 667;

const embedded = (chunks: number, dimensions: number, queries: number): SpeedCase => ({
  engine: 'embedded',
  chunks,
  dimensions,
  queries,
});
const small = ({ filtered }: SpeedReport): readonly Bounded[] => [
  { what: 'p95 ms with a filter at 10,000', measured: filtered.p95, bound: 5 },
];
const large = ({ filtered, unfiltered, readyMs, residentMib, others }: SpeedReport): readonly Bounded[] => [
  { what: 'p95 ms with a filter at 100,000', measured: filtered.p95, bound: 25 },
  { what: 'p95 ms without a filter at 100,000', measured: unfiltered.p95, bound: 60 },
  { what: 'delay of other requests, p95 ms', measured: delayOf(others), bound: 10 },
  { what: 'ready without reading, s', measured: readyMs / 1_000, bound: 10 },
  { what: 'resident, MiB', measured: residentMib, bound: mostResidentMib },
];

const cases: Readonly<Record<'small' | 'full', readonly Case[]>> = {
  small: [{ given: embedded(10_000, 384, 80), bounds: small, compared: false }],
  full: [
    { given: embedded(10_000, 384, 400), bounds: small, compared: true },
    { given: embedded(100_000, 384, 200), bounds: large, compared: true },
    { given: embedded(100_000, 1_536, 100), bounds: () => [], compared: false },
  ],
};

export const figure: Figure = {
  name: 'retrieval-speed',
  title:
    'hybrid queries of the embedded index at 384 dimensions: p95 of at most 5 ms over 10,000 chunks with a filter that leaves 5 %, 25 ms over 100,000, 60 ms without a filter while others wait at most 10 ms longer',
  run: async (size, say) => {
    if (size === 'full' && missingPostgres !== undefined) return { skipped: missingPostgres };
    say(
      `texts: ${readCorpus().kind}, vectors: random, both legs with a window of 50, labels as filter, one caller, the best of six rounds`,
    );
    const bounded: Bounded[] = [];
    for (const { given, bounds, compared } of cases[size]) {
      const report = await runCase(given);
      say(described(given, report));
      bounded.push(...bounds(report));
      if (compared) await compare(given, report, say);
    }
    if (size === 'full') bounded.push(await readyFromPostgres(say));
    return {
      holds: bounded.every(({ measured, bound }) => measured <= bound),
      line: bounded.map(({ what, measured, bound }) => `${what}: ${measured.toFixed(1)} (at most ${bound})`).join(', '),
    };
  },
};

/** The whole start: 100,000 chunks are read from PostgreSQL and indexed. */
async function readyFromPostgres(say: (line: string) => void): Promise<Bounded> {
  const report = await measurePostgres({ chunks: 100_000, dimensions: 384 });
  const seconds = report.readyMs / 1_000;
  say(
    `from PostgreSQL: ${report.chunks} chunks ready in ${seconds.toFixed(1)} s, ${(report.workMs / 1_000).toFixed(1)} s of work`,
  );
  return { what: 'ready from PostgreSQL, s', measured: seconds, bound: 10 };
}

/**
 * Measures other engines with the same chunks and queries, directly afterwards, as multiples of the times of
 * Portcullis.
 */
async function compare(own: SpeedCase, report: SpeedReport, say: (line: string) => void): Promise<void> {
  const installed = installLocked(join(import.meta.dirname, '../retrieval-speed/engines'), 'search-engines');
  for (const engine of ['sqlite-vec', 'lancedb'] as const)
    await compareWith({ ...own, engine, installed }, report, say);
  if (missingOpenSearch !== undefined) return say(`not compared with OpenSearch: ${missingOpenSearch}`);
  await using server = await startOpenSearch();
  await compareWith({ ...own, engine: 'opensearch', server: server.url.href }, report, say);
}

async function compareWith(other: SpeedCase, report: SpeedReport, say: (line: string) => void): Promise<void> {
  const given = { ...other, queries: other.queries / 4 };
  const found = await runCase(given);
  const ratio = (of: 'filtered' | 'unfiltered') =>
    `${(found[of].p50 / report[of].p50).toFixed(1)}/${(found[of].p95 / report[of].p95).toFixed(1)}`;
  say(
    `${described(given, found)}; times the embedded index p50/p95: ${ratio('filtered')} filtered, ${ratio('unfiltered')} unfiltered`,
  );
}

function described(
  { engine, chunks, dimensions }: SpeedCase,
  { filtered, unfiltered, readyMs, residentMib, startMib, others }: SpeedReport,
): string {
  const times = ({ p50, p95 }: Timings) => `${p50.toFixed(2)}/${p95.toFixed(2)}`;
  const waits =
    others &&
    `; other requests p50/p95 ${times(others.idle)} alone, ${times(others.busy)} beside 1 caller, ${times(others.crowded)} beside 16`;
  return (
    `${engine}, ${chunks} chunks, ${dimensions} dimensions: p50/p95 ms ${times(filtered)} filtered, ` +
    `${times(unfiltered)} unfiltered; ready ${(readyMs / 1_000).toFixed(1)} s, resident ${residentMib.toFixed(0)} MiB ` +
    `(${startMib.toFixed(0)} at the start)${waits ?? ''}`
  );
}

function delayOf(others: SpeedReport['others']): number {
  if (others === undefined) return Number.POSITIVE_INFINITY;
  return others.busy.p95 - others.idle.p95;
}
