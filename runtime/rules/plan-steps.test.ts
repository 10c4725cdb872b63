import { describe, expect, test } from 'vitest';
import { planSteps } from './plan-steps.ts';

const local = { mode: 'enforce', asks: false } as const;
const remote = { mode: 'enforce', asks: true } as const;
const watching = { mode: 'observe', asks: true } as const;
const watchingLocal = { mode: 'observe', asks: false } as const;

function plan(...rules: (typeof local | typeof remote | typeof watching | typeof watchingLocal)[]): unknown {
  const batches: (readonly number[])[] = [];
  const steps = planSteps(rules, (batch) => {
    batches.push(batch.local);
    return [];
  });
  return steps.map((step) =>
    step.kind === 'ask'
      ? step.place
      : { local: batches.shift(), from: step.from, to: step.to, observers: step.observers },
  );
}

describe('steps of a section', () => {
  test('steps of a section hold local rules together', () => {
    expect(plan(local, watchingLocal, local)).toEqual([{ local: [0, 1, 2], from: 0, to: 3, observers: [] }]);
  });

  test('steps of a section wait at every enforced rule with a provider, so that no text is sent before the earlier rules have passed', () => {
    expect(plan(local, remote, local, remote)).toEqual([
      { local: [0], from: 0, to: 1, observers: [] },
      1,
      { local: [2], from: 2, to: 3, observers: [] },
      3,
    ]);
    expect(plan(remote, remote)).toEqual([0, 1]);
  });

  test('steps of a section start observe rules with a provider in the batch of their place', () => {
    expect(plan(watching, local, watching, remote, watching)).toEqual([
      { local: [1], from: 0, to: 3, observers: [0, 2] },
      3,
      { local: [], from: 4, to: 5, observers: [4] },
    ]);
  });
});
