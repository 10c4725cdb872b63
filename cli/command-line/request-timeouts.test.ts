import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createPlugin } from '../kubectl/program.ts';
import { createCommandLine } from '../program.ts';

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

function leavesOf(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((sub) => leavesOf(sub, [...words, sub.name()]));
}

test.each([
  ['portcullis', createCommandLine],
  ['kubectl portcullis', createPlugin],
] as const)('every command of %s that calls a server has a request timeout', async (_, create) => {
  const without = leavesOf(await create()).filter(
    ([, { options }]) => !options.some(({ long }) => long === '--request-timeout'),
  );
  expect(without.map(([words]) => words).filter((words) => !local.has(words))).toEqual([]);
});
