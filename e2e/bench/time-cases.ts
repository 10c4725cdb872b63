import { median } from '../support/median.ts';
import type { Case } from './engine-cases.ts';

export type Timed = {
  readonly group: string;
  readonly name: string;
  /** Microseconds for one body, median over the rounds. */
  readonly microseconds: number;
  /** Median of the ratios to the baseline of the same round. */
  readonly ratio: number;
  readonly bound: number | undefined;
};

/** Target duration of one side of a round in milliseconds: it is short, so that other work interrupts few rounds. */
const sideMs = 4;

const warmUpMs = 60;

const parse = (body: Buffer): string => typeof JSON.parse(body.toString('utf8'));

/** Measures a case and its baseline alternately and returns the ratio. */
export async function timeCase(
  { group, name, body, work, expects, bound, baseline }: Case,
  rounds: number,
): Promise<Timed> {
  const answer = await work(body);
  if (!answer.includes(expects)) throw new Error(`${group}, ${name}: ${answer.slice(0, 200)}`);
  const other = baseline ?? parse;
  const count = { own: await countFor(work, body), other: await countFor(other, body) };
  const own: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const base = await time(other, body, count.other);
    const took = await time(work, body, count.own);
    own.push(took);
    ratios.push(took / base);
  }
  return { group, name, microseconds: median(own), ratio: median(ratios), bound };
}

type Work = Case['work'];

/**
 * Runs the function until the JIT compiler has optimised it. @returns the number of calls that fill one side of a round
 */
async function countFor(work: Work, body: Buffer): Promise<number> {
  const end = performance.now() + warmUpMs;
  while (performance.now() < end) await time(work, body, 10);
  const one = Math.min(await time(work, body, 20), await time(work, body, 20));
  return Math.max(1, Math.min(20_000, Math.round((sideMs * 1_000) / one)));
}

/** Microseconds per call. */
async function time(work: Work, body: Buffer, count: number): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < count; call++) await work(body);
  return ((performance.now() - start) * 1_000) / count;
}
