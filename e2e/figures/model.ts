import { checkModel } from '../model/check-model.ts';
import { runCrashPoints } from '../model/crash-points.ts';
import type { Figure } from '../support/figure.ts';

const seed = 20_260_101;

export const figure: Figure = {
  name: 'model',
  title:
    'operators that are killed at each write; random sequences of edits, faults, crashes and changes of leadership',
  run: async (size, say) => {
    const crashes = await runCrashPoints(say);
    for (const sentence of crashes.differing.slice(0, 10)) say(sentence);
    // e2e/model/model.test.ts runs 80 sequences of another seed in the full check.
    const runs = size === 'full' ? 2_000 : 20;
    const { counterexample, ...model } = await checkModel({ runs, seed, say });
    if (counterexample !== undefined) {
      say(`sequence of seed ${counterexample.seed}: ${JSON.stringify(counterexample.acts)}`);
      for (const sentence of counterexample.broken.slice(0, 10)) say(sentence);
    }
    const hours = (model.virtualSeconds / 3_600).toFixed(1);
    return {
      holds: crashes.deaths > 150 && crashes.differing.length === 0 && counterexample === undefined,
      line:
        `${crashes.deaths} deaths between two writes, ${crashes.differing.length} with another final state; ` +
        `${model.runs} sequences of ${model.acts} acts, ${hours} h of simulated time, ${model.writes} writes and ` +
        `${model.requests} requests: ${counterexample === undefined ? 'no invariant' : 'an invariant'} violated`,
    };
  },
};
