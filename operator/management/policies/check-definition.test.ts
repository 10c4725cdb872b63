import { expect, onTestFinished, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import type { PolicyCheck } from '#contracts/policy-check';
import { childrenOf, hasProcessTable } from '#kit/testing/process-table';
import { definitionOf } from '../../testing/objects.ts';
import { createDefinitionChecker } from './check-definition.ts';
import { openJudges } from './open-judges.ts';

const says = (term: string, content: string): PolicyCheck => ({
  definition: definitionOf(term),
  checks: [{ name: 'one', stage: 'request', messages: [{ role: 'user', content }] }],
  marks: false,
});

function open() {
  const judges = openJudges();
  onTestFinished(() => judges[Symbol.asyncDispose]());
  return { judges, check: createDefinitionChecker(judges, () => ({ approved: [], limits: defaultBundleLimits })) };
}

test('concurrent checks of two definitions each have their own outcome', async () => {
  const { check } = open();
  const decision = async (term: string, content: string) => (await check(says(term, content))).results[0]?.decision;
  expect(await decision('portal', 'about the portal')).toBe('Reject');
  expect(await Promise.all([decision('gate', 'about the portal'), decision('gate', 'at the gate')])).toEqual([
    'Pass',
    'Reject',
  ]);
});

test.skipIf(!hasProcessTable)(
  'one process judges one definition after another, and ends with the service',
  async () => {
    const { judges, check } = open();
    const processes = (): readonly number[] => childrenOf(process.pid, 'portcullis-judge');
    await check(says('portal', 'hello'));
    const [kept] = processes();
    expect(kept).toBeDefined();
    await check(says('gate', 'hello'));
    expect(processes()).toEqual([kept]);
    await judges[Symbol.asyncDispose]();
    expect(processes()).toEqual([]);
  },
);
