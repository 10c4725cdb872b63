import { expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import type { ValidationResult } from '../../bundles/ports.ts';
import { BrokenError } from '../../reconcile/outcome.ts';
import { acceptingJudge } from '../../testing/accepting-judge.ts';
import { policyObject } from '../../testing/objects.ts';
import { createPolicyJudgements } from './judgements.ts';

const accepted = acceptingJudge.judge;

function generationOf(generation: number): Stored<GuardrailPolicy> {
  const policy = policyObject('guard');
  const stored = { uid: 'one', resourceVersion: '1', generation, creationTimestamp: '2026-01-01T00:00:00Z' };
  return { ...policy, metadata: { ...policy.metadata, ...stored } };
}

/** Judgements whose runs and pauses end when the test ends them. */
function setUp() {
  const runs: PromiseWithResolvers<ValidationResult>[] = [];
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const due: string[] = [];
  const judgements = createPolicyJudgements({
    judge: {
      ...acceptingJudge,
      judge() {
        const run = Promise.withResolvers<ValidationResult>();
        runs.push(run);
        return run.promise;
      },
    },
    environment: () => environment,
    logger: createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } }),
    onDue: (name) => due.push(name),
    async pause(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      pauses.push({ ms, end: resolve });
      await promise;
    },
  });
  return { judgements, runs, pauses, due };
}

const environment = { approved: [], limits: defaultBundleLimits, connections: [] };
const late = new BrokenError('JudgeTimeout', 'too slow');
const accept = async () => accepted({ bytes: Buffer.alloc(0), digest: '' }, AbortSignal.timeout(1));

test('a judgement that fails for an earlier generation does not drop the judgement of a later generation', async () => {
  const { judgements, runs, due } = setUp();
  judgements.request(generationOf(1), 1);
  judgements.request(generationOf(2), 2);
  await until('generation 1 is judged', () => runs.length === 1);
  runs[0]?.reject(late);
  await until('generation 2 is judged', () => runs.length === 2);
  runs[1]?.resolve(await accept());
  await until('the pass is queued', () => due.length === 1);
  expect(judgements.of(generationOf(2))).toMatchObject({ kind: 'valid' });
});

test('a policy that could not be judged is judged again after a pause that doubles up to five minutes', async () => {
  const { judgements, runs, pauses, due } = setUp();
  for (let failure = 1; failure <= 8; failure++) {
    judgements.request(generationOf(1), 1);
    await until('it is judged', () => runs.length === failure);
    runs.at(-1)?.reject(late);
    await until('it waits', () => pauses.length === failure);
    expect(due).toHaveLength(failure - 1);
    pauses.at(-1)?.end();
    await until('the pass is queued', () => due.length === failure);
  }
  expect(pauses.map(({ ms }) => ms)).toEqual([5, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1_000));
  judgements.request(generationOf(1), 1);
  await until('it is judged', () => runs.length === 9);
  runs.at(-1)?.resolve(await accept());
  await until('its judgement is known', () => judgements.of(generationOf(1)) !== undefined);
});

test('a deleted policy that could not be judged is not judged again', async () => {
  const { judgements, runs, pauses, due } = setUp();
  judgements.request(generationOf(1), 1);
  await until('it is judged', () => runs.length === 1);
  runs[0]?.reject(late);
  await until('it waits', () => pauses.length === 1);
  judgements.forget('one');
  pauses[0]?.end();
  await Promise.resolve();
  expect(due).toEqual([]);
});
