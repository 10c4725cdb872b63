import { median } from '../support/median.ts';
import { cpuMicroseconds, type Load } from './load.ts';
import type { LoadResult } from './load-client.ts';

/** A server under load: its process and the request that it receives. */
export type ServerUnderLoad = {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly request: string;
  /** Text that every correct answer contains; any other answer ends the measurement. */
  readonly expects: string;
};

type Window = {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
  readonly p50: number;
  readonly p99: number;
};

/** Medians over all rounds: of a subject, and of its ratios to the baseline in the same round. */
export type Compared = {
  readonly name: string;
  readonly median: Window;
  readonly ratio: { readonly throughput: number; readonly cpu: number; readonly p99: number };
  /** Smallest and largest throughput ratio. */
  readonly spread: readonly [number, number];
};

export type PairOptions = {
  readonly rounds: number;
  readonly windowMs: number;
  readonly connections: number;
  /** Load on each subject before the first round. */
  readonly warmUpMs: number;
};

/**
 * Measures subjects against a baseline under the same load. Each round measures them one after another in a different
 * order, so that other load on the machine affects all subjects equally.
 */
export async function comparePairs(
  load: Load,
  baseline: ServerUnderLoad,
  subjects: readonly ServerUnderLoad[],
  options: PairOptions,
): Promise<readonly Compared[]> {
  const all = [baseline, ...subjects];
  for (const subject of all) await measure(load, subject, options.connections, options.warmUpMs);
  const windows = new Map<string, Window[]>(all.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    const order = all.map((_, index) => all[(index + round) % all.length] ?? baseline);
    for (const subject of order) {
      windows.get(subject.name)?.push(await measure(load, subject, options.connections, options.windowMs));
    }
  }
  const base = windows.get(baseline.name) ?? [];
  return all.map(({ name }) => compare(name, windows.get(name) ?? [], base));
}

async function measure(load: Load, subject: ServerUnderLoad, connections: number, ms: number): Promise<Window> {
  const before = cpuMicroseconds(subject.pid);
  const result = await load.run({ port: subject.port, request: subject.request, connections, ms });
  const used = cpuMicroseconds(subject.pid) - before;
  assertGood(subject, result);
  const { answers, seconds, p50, p99 } = result;
  return { perSecond: answers / seconds, cpuMicroseconds: used / answers, p50, p99 };
}

function assertGood({ name, expects }: ServerUnderLoad, { first, odd, answers }: LoadResult): void {
  const good = first.startsWith('HTTP/1.1 200') && first.includes(expects) && odd === 0 && answers > 0;
  if (!good) throw new Error(`${name} answered something else, ${odd} odd answers: ${first.slice(0, 400)}`);
}

function compare(name: string, own: readonly Window[], base: readonly Window[]): Compared {
  const ratios = (part: keyof Window): number[] =>
    own.flatMap((window, round) => {
      const other = base[round];
      return other === undefined ? [] : [window[part] / other[part]];
    });
  const throughput = ratios('perSecond');
  const middle = (part: keyof Window): number => median(own.map((window) => window[part]));
  return {
    name,
    median: {
      perSecond: middle('perSecond'),
      cpuMicroseconds: middle('cpuMicroseconds'),
      p50: middle('p50'),
      p99: middle('p99'),
    },
    ratio: { throughput: median(throughput), cpu: median(ratios('cpuMicroseconds')), p99: median(ratios('p99')) },
    spread: [Math.min(...throughput), Math.max(...throughput)],
  };
}
