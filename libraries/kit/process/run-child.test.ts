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

test('gives input, takes outputs and exit code', async () => {
  expect(await run({ out: 3, err: 2, code: 7 })).toEqual({ code: 7, stdout: 'ooo', stderr: 'ee', timedOut: false });
});

test('the child reads the whole input and nothing of the environment but what Node needs', async () => {
  process.env['CHILD_TEST_SECRET'] = 'hunter2';
  const note = 'я'.repeat(200_000);
  const { stdout } = await run({ note });
  const { input, env } = JSON.parse(stdout);
  expect(JSON.parse(input).note).toBe(note);
  expect(env).toMatchObject({ PATH: process.env['PATH'] });
  expect(env).not.toHaveProperty('CHILD_TEST_SECRET');
});

test('a child that does not end is killed when its time is over', async () => {
  expect(await run({ out: 0, hang: true }, { timeoutMs: 300 })).toMatchObject({ code: null, timedOut: true });
});

test.each(['out', 'err'])('the bound of an output holds: %s', async (name) => {
  const both = { out: 0, err: 0 };
  expect(await run({ ...both, [name]: 1000 }, { maxOutputBytes: 1000 })).toMatchObject({ code: 0, timedOut: false });
  const over = await run({ ...both, [name]: 1001, hang: true }, { maxOutputBytes: 1000 });
  expect(over).toMatchObject({ code: null, timedOut: false });
});

test('the signal kills the child and its reason is thrown', async () => {
  const control = new AbortController();
  const ended = run({ out: 0, hang: true }, { signal: control.signal });
  setImmediate(() => control.abort(new TypeError('enough')));
  await expect(ended).rejects.toThrow('enough');
  await expect(run({}, { signal: control.signal })).rejects.toThrow('enough');
});

test('a file that is not there ends with a code that is not 0', async () => {
  const end = await runChild(`${file}.none`, { input: 'x'.repeat(1_000_000), timeoutMs: 60_000, signal: never });
  expect(end).toMatchObject({ code: 1, stdout: '', timedOut: false });
});
