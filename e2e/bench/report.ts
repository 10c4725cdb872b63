import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { root } from '../../hack/check/run-tool.ts';
import { barChart, row, tableLines } from './bar-chart.ts';
import { checkLimits } from './checks.ts';
import type { FrameworkReport } from './compare-frameworks.ts';
import { frameworkLines } from './frameworks-report.ts';
import type { GatewayFigures } from './gateway-case.ts';
import { firstByteLimits, gatewayLines, shownTimes } from './gateway-report.ts';
import type { Compared } from './pairs.ts';
import { type RelayFigure, relayBounds, relayGoals } from './relay-case.ts';
import { relayLines } from './relay-report.ts';
import { type StartFigure, startBounds } from './start-case.ts';
import type { Timed } from './time-cases.ts';

export type Measured = {
  readonly checks: readonly Compared[];
  readonly engine: readonly Timed[];
  readonly start: StartFigure;
  readonly gateway: GatewayFigures;
  readonly relay: readonly RelayFigure[];
  /** The comparison with other frameworks; undefined if their packages are not installed. */
  readonly frameworks: FrameworkReport | undefined;
};

/** `wanted` is the goal. `bound` is weaker than the goal; if it is absent, the goal is the only limit. */
type Limits = { readonly bound?: number; readonly wanted: number };

/** A measured value with its limits. `missed`: the value is within the bound but does not reach the goal. */
type Verdict = {
  readonly what: string;
  readonly bound: string;
  readonly wanted: string;
  readonly found: string;
  readonly result: 'reached' | 'missed' | 'out of bounds';
};

function compare(what: string, found: number, word: 'at least' | 'at most', { bound, wanted }: Limits): Verdict {
  const holds = (limit: number): boolean => (word === 'at least' ? found >= limit : found <= limit);
  const fallsShort = bound !== undefined && holds(bound) ? 'missed' : 'out of bounds';
  return {
    what,
    bound: `${word} ${bound ?? wanted}`,
    wanted: `${word} ${wanted}`,
    found: found.toFixed(2),
    result: holds(wanted) ? 'reached' : fallsShort,
  };
}

export function verdictsOf({ checks, engine, start, gateway, relay }: Measured): readonly Verdict[] {
  const ratioOf = (name: string): Compared['ratio'] =>
    checks.find((row) => row.name === name)?.ratio ?? { throughput: 0, cpu: Number.NaN, p99: Number.NaN };
  const firstByte = shownTimes(gateway).filter(({ moment }) => moment === 'firstByte');
  return [
    compare('throughput of a passing check to the echo', ratioOf('pass').throughput, 'at least', checkLimits.pass),
    compare('throughput of a masking check to the echo', ratioOf('mask').throughput, 'at least', checkLimits.mask),
    compare('server CPU of a passing check to the echo', ratioOf('pass').cpu, 'at most', checkLimits.cpu),
    compare('p99 of a passing check to the echo', ratioOf('pass').p99, 'at most', checkLimits.p99),
    ...firstByte.map(({ name, figure }) =>
      compare(`milliseconds that a guard adds, ${name}`, figure.whole.firstByte, 'at most', firstByteLimits),
    ),
    ...relay.flatMap(({ answer, callers, unguardedToRelay, guardedToUnguarded }) => {
      const of = `${answer} answers a second, ${callers} callers`;
      const goals = relayGoals[answer];
      const [plain, guarded] = [relayBounds.unguarded, relayBounds.guarded];
      return [
        compare(`${of}: unguarded to a relay`, unguardedToRelay, 'at least', {
          bound: plain,
          wanted: goals.unguardedToRelay,
        }),
        compare(`${of}: guarded to unguarded`, guardedToUnguarded, 'at least', {
          bound: guarded,
          wanted: goals.guardedToUnguarded,
        }),
      ];
    }),
    ...engine.flatMap(({ group, name, ratio, bound }) =>
      bound === undefined ? [] : [compare(`${group}: ${name}`, ratio, 'at most', { wanted: bound })],
    ),
    compare(`seconds from start to ready with ${start.bytes} bytes of terms`, start.seconds, 'at most', {
      wanted: startBounds.seconds,
    }),
    compare(`resident MiB with ${start.bytes} bytes of terms`, start.mebibytes, 'at most', {
      wanted: startBounds.mebibytes,
    }),
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
  const { checks, gateway, relay, frameworks } = measured;
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
      ['figure', 'bound', 'wanted', 'measured', ''],
      verdictsOf(measured).map(({ what, bound, wanted, found, result }) =>
        row(what, bound, wanted, found, result === 'reached' ? result : `**${result}**`),
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
    ...relayLines(relay),
    ...frameworkLines(frameworks),
    '## Judging without HTTP',
    '',
    'From the bytes of a body to the bytes of its answer, as a multiple of `JSON.parse` of the same bytes (of the same',
    'work with 100 terms where a chart says so).',
    '',
  ];
}
