import { expect, test } from 'vitest';
import { byLine, type Child, describeEnd, startChild } from './start-child.ts';

const env = { PATH: process.env['PATH'] };

/** Starts a script of the shell and waits for its first line. */
async function shell(script: string): Promise<{ readonly child: Child; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const first = Promise.withResolvers<void>();
  const stdout = byLine((line) => {
    lines.push(line);
    first.resolve();
  });
  const child = startChild(['sh', '-c', script], { env, stdin: 'open', stdout });
  await first.promise;
  return { child, lines };
}

test.each([
  ['exits in its grace period', 'trap "exit 3" TERM', 60_000, { kind: 'exited', code: 3 }, 'ended with exit code 3'],
  ['ignores the signal', 'trap "" TERM', 100, { kind: 'killed', signal: 'SIGKILL' }, 'was ended by SIGKILL'],
])('a child process that %s is stopped', async (_what, trap, graceMs, end, words) => {
  const { child } = await shell(`${trap}; echo ready; read -r line`);
  expect(child.hasEnded()).toBe(false);
  expect(await child.stop({ graceMs })).toEqual(end);
  expect(child.hasEnded()).toBe(true);
  expect(describeEnd(await child.ended)).toBe(words);
  child.signal('SIGTERM');
  expect(await child.closed).toEqual(end);
});

test('the lines of a child process arrive complete before it is closed', async () => {
  const { child, lines } = await shell('printf "one\\ntw"; sleep 0.1; printf "o\\nrest"');
  expect(await child.closed).toEqual({ kind: 'exited', code: 0 });
  expect(lines).toEqual(['one', 'two']);
});

test('a child process without standard input reads its end', async () => {
  const child = startChild(['sh', '-c', 'read -r line || exit 4'], { env });
  expect(await child.ended).toEqual({ kind: 'exited', code: 4 });
});

test('a program that does not exist is reported as not started', async () => {
  const child = startChild(['/no/such/program'], { env, stdin: { text: 'x' }, stdout: () => undefined });
  expect(child.pid).toBeUndefined();
  const end = await child.stop({ graceMs: 60_000 });
  expect(describeEnd(end)).toBe('could not be started (ENOENT)');
  expect(await child.closed).toEqual(end);
});
