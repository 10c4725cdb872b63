import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { runChild } from './run-child.ts';

const file = fileURLToPath(new URL('./testing/child.ts', import.meta.url));
const never = new AbortController().signal;
const run = (job: object, options: { timeoutMs?: number; signal?: AbortSignal; maxOutputBytes?: number } = {}) =>
  runChild(file, { input: JSON.stringify(job), timeoutMs: 60_000, signal: never, ...options });

afterEach(() => {
  delete process.env['CHILD_TEST_SECRET'];
});

test('a child process receives its input and returns its outputs and exit code', async () => {
  expect(await run({ out: 3, err: 2, code: 7 })).toEqual({ code: 7, stdout: 'ooo', stderr: 'ee', timedOut: false });
});

test('a child process receives the whole input and only the environment variables that Node needs', async () => {
  process.env['CHILD_TEST_SECRET'] = 'hunter2';
  const note = 'я'.repeat(200_000);
  const { stdout } = await run({ note });
  const { input, env } = JSON.parse(stdout);
  expect(JSON.parse(input).note).toBe(note);
  expect(env).toMatchObject({ PATH: process.env['PATH'] });
  expect(env).not.toHaveProperty('CHILD_TEST_SECRET');
});

test('a child process is killed at its timeout', async () => {
  expect(await run({ out: 0, hang: true }, { timeoutMs: 300 })).toMatchObject({ code: null, timedOut: true });
});

test.each(['out', 'err'])('a child process is killed when its output exceeds the limit: %s', async (name) => {
  const both = { out: 0, err: 0 };
  expect(await run({ ...both, [name]: 1000 }, { maxOutputBytes: 1000 })).toMatchObject({ code: 0, timedOut: false });
  const over = await run({ ...both, [name]: 1001, hang: true }, { maxOutputBytes: 1000 });
  expect(over).toMatchObject({ code: null, timedOut: false });
});

test('an aborted signal kills the child process and its reason is thrown', async () => {
  const control = new AbortController();
  const ended = run({ out: 0, hang: true }, { signal: control.signal });
  setImmediate(() => control.abort(new TypeError('enough')));
  await expect(ended).rejects.toThrow('enough');
  await expect(run({}, { signal: control.signal })).rejects.toThrow('enough');
});

test('a child process with a missing file ends with a non-zero exit code', async () => {
  const end = await runChild(`${file}.none`, { input: 'x'.repeat(1_000_000), timeoutMs: 60_000, signal: never });
  expect(end).toMatchObject({ code: 1, stdout: '', timedOut: false });
});
