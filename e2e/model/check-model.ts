import fc from 'fast-check';
import { type Act, anyAct } from './acts.ts';
import type { Sabotage } from './operator-process.ts';
import { runModel } from './run-model.ts';

type ModelCheck = {
  readonly runs: number;
  readonly acts: number;
  readonly requests: number;
  readonly writes: number;
  readonly virtualSeconds: number;
  /**
   * The shortest sequence of actions that violates an invariant, with the seed that replays it; absent if no sequence
   * does.
   */
  readonly counterexample?: {
    readonly seed: number;
    readonly acts: readonly Act[];
    readonly broken: readonly string[];
  };
};

const stories = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  acts: fc.array(anyAct, { minLength: 3, maxLength: 30, size: 'max' }),
});

/** Runs random sequences of actions on simulated installations, and shortens a failing sequence as far as possible. */
export async function checkModel(options: {
  readonly runs: number;
  readonly seed: number;
  readonly say: (progress: string) => void;
  readonly sabotage?: Sabotage;
}): Promise<ModelCheck> {
  const { runs, seed, say, sabotage } = options;
  const totals = { runs: 0, acts: 0, requests: 0, writes: 0, virtualSeconds: 0 };
  const property = fc.asyncProperty(stories, async (story) => {
    const run = await runModel(story.seed, story.acts, { sabotage });
    totals.runs += 1;
    totals.acts += story.acts.length;
    totals.requests += run.requests;
    totals.writes += run.writes;
    totals.virtualSeconds += run.virtualSeconds;
    if (totals.runs % 200 === 0) say(`${totals.runs} of ${runs} runs, ${totals.requests} requests`);
    return run.broken.length === 0;
  });
  const result = await fc.check(property, { numRuns: runs, seed });
  if (!result.failed) return totals;
  const [found] = result.counterexample ?? [];
  if (found === undefined) throw new Error('a simulated run failed', { cause: result.errorInstance });
  const { broken } = await runModel(found.seed, found.acts, { sabotage });
  return { ...totals, counterexample: { ...found, broken } };
}
