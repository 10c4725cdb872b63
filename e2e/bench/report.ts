import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { root } from '../../hack/check/run-tool.ts';
import { barChart, row, tableLines } from './bar-chart.ts';
import { checkBounds } from './checks.ts';
import type { GatewayFigures } from './gateway-case.ts';
import { gatewayLines } from './gateway-report.ts';
import type { Compared } from './pairs.ts';
import { type StartFigure, startBounds } from './start-case.ts';
import type { Timed } from './time-cases.ts';

export type Measured = {
  readonly checks: readonly Compared[];
  readonly engine: readonly Timed[];
  readonly start: StartFigure;
  readonly gateway: GatewayFigures;
};

/** A target, the measured value, and whether the target is reached. */
type Verdict = {
  readonly what: string;
  readonly wanted: string;
  readonly found: string;
  readonly reached: boolean;
};

const atLeast = (what: string, found: number, wanted: number): Verdict => ({
  what,
  wanted: `at least ${wanted}`,
  found: found.toFixed(2),
  reached: found >= wanted,
});
const atMost = (what: string, found: number, wanted: number): Verdict => ({
  what,
  wanted: `at most ${wanted}`,
  found: found.toFixed(2),
  reached: found <= wanted,
});

export function verdictsOf({ checks, engine, start }: Measured): readonly Verdict[] {
  const ratioOf = (name: string): Compared['ratio'] =>
    checks.find((row) => row.name === name)?.ratio ?? { throughput: 0, cpu: Number.NaN, p99: Number.NaN };
  return [
    atLeast('throughput of a passing check to the echo', ratioOf('pass').throughput, checkBounds.pass),
    atLeast('throughput of a masking check to the echo', ratioOf('mask').throughput, checkBounds.mask),
    atMost('server CPU of a passing check to the echo', ratioOf('pass').cpu, checkBounds.cpu),
    atMost('p99 of a passing check to the echo', ratioOf('pass').p99, checkBounds.p99),
    ...engine.flatMap(({ group, name, ratio, bound }) =>
      bound === undefined ? [] : [atMost(`${group}: ${name}`, ratio, bound)],
    ),
    atMost(`seconds from start to ready with ${start.bytes} bytes of terms`, start.seconds, startBounds.seconds),
    atMost(`resident MiB with ${start.bytes} bytes of terms`, start.mebibytes, startBounds.mebibytes),
  ];
}

/** Writes docs/benchmarks.md and its charts. */
export function writeReport(measured: Measured): void {
  const folder = join(root, 'docs/benchmarks');
  mkdirSync(folder, { recursive: true });
  const groups = Map.groupBy(measured.engine, ({ group }) => group);
  const charts = [...groups].map(([group, rows]) => {
    const name = `${group.replace(/\W+/g, '-').replace(/^-|-$/g, '').toLowerCase()}.svg`;
    const bars = rows.map(({ name: label, ratio, microseconds }) => ({
      label,
      value: ratio,
      text: `${ratio.toFixed(1)} (${microseconds.toFixed(0)} us)`,
    }));
    const bounds = new Set(rows.map(({ bound }) => bound));
    const [bound] = bounds;
    writeFileSync(join(folder, name), barChart(group, bars, bounds.size === 1 ? bound : undefined));
    return `![${group}](benchmarks/${name})\n`;
  });
  writeFileSync(join(root, 'docs/benchmarks.md'), [...textOf(measured), ...charts].join('\n'));
}

function textOf(measured: Measured): readonly string[] {
  const { checks, gateway } = measured;
  return [
    '# Benchmarks',
    '',
    'Written by `npm run bench -- --write`. Every figure is a ratio to a baseline that ran alternately with it, so that',
    'other machines should give similar ratios; times and rates are those of the machine of this run',
    `(${cpus().length} cores, ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}, server and client on the`,
    'same cores, with other work running at the same time). The control compares a second echo with the first: its distance from 1 is',
    'the uncertainty of every ratio of this run. The figures are measurements and no guarantee.',
    '',
    '## Targets',
    '',
    ...tableLines(
      ['figure', 'target', 'measured', ''],
      verdictsOf(measured).map(({ what, wanted, found, reached }) =>
        row(what, wanted, found, reached ? 'reached' : '**not reached**'),
      ),
    ),
    '## Checks over HTTP',
    '',
    'A request of 2 KiB on 32 keep-alive connections against `c.json(await c.req.json())` of the same framework with the',
    'same bytes; 8 patterns and 1,000 terms; medians over the rounds and of their ratios.',
    '',
    ...tableLines(
      ['', 'per second', 'server CPU, us', 'per second and core', 'p50, ms', 'p99, ms', 'throughput', 'CPU', 'p99'],
      checks.map(({ name, median, ratio, spread }) =>
        row(
          name,
          median.perSecond.toFixed(0),
          median.cpuMicroseconds.toFixed(1),
          (1_000_000 / median.cpuMicroseconds).toFixed(0),
          median.p50.toFixed(2),
          median.p99.toFixed(2),
          `${ratio.throughput.toFixed(2)} (${spread[0].toFixed(2)} to ${spread[1].toFixed(2)})`,
          ratio.cpu.toFixed(2),
          ratio.p99.toFixed(2),
        ),
      ),
    ),
    ...gatewayLines(gateway),
    '## Judging without HTTP',
    '',
    'From the bytes of a body to the bytes of its answer, as a multiple of `JSON.parse` of the same bytes (of the same',
    'work with 100 terms where a chart says so).',
    '',
  ];
}
