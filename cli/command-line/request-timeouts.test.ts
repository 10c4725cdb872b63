import { expect, test } from 'vitest';
import { createPlugin } from '../kubectl/program.ts';
import { createCommandLine } from '../program.ts';
import { leavesOf } from '../testing/leaves-of.ts';

/** Commands that send no request, and runs of flows, which have `--timeout`. */
const local = new Set([
  'up',
  'env',
  'token rotate',
  'console',
  'explain',
  'check',
  'flow init',
  'flow check',
  'flow test',
  'flow run',
  'flow eval',
  'flow version',
  'flow graph',
  'bundle build',
  'runtime',
  'completion',
]);

test.each([
  ['portcullis', createCommandLine],
  ['kubectl portcullis', createPlugin],
] as const)('every command of %s that calls a server has a request timeout', async (_, create) => {
  const without = leavesOf(await create()).filter(
    ([, { options }]) => !options.some(({ long }) => long === '--request-timeout'),
  );
  expect(without.map(([words]) => words).filter((words) => !local.has(words))).toEqual([]);
});
