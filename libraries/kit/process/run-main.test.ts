import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('./testing/life.ts', import.meta.url));

type Life = AsyncDisposable & {
  readonly child: ChildProcessWithoutNullStreams;
  /** The line that reports that it serves. */
  ready(): Promise<unknown>;
  /** Waits for a line on standard error. */
  says(line: string): Promise<void>;
  /** Waits for the end; returns the exit code or the signal, and the lines on standard error. */
  end(): Promise<{ code: number | null; signal: string | null; lines: string[] }>;
};

function live(what: string, env: NodeJS.ProcessEnv = {}): Life {
  const child = spawn(process.execPath, [script, what], { env: { PATH: process.env['PATH'], ...env } });
  const lines: string[] = [];
  const errors = createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const closed = once(child, 'close');
  const output = createInterface({ input: child.stdout });
  const first = once(output, 'line');
  return {
    child,
    ready: async () => JSON.parse((await first)[0]),
    async says(line) {
      while (!lines.includes(line)) await once(errors, 'line');
    },
    async end() {
      const [code, signal] = await closed;
      return { code, signal, lines };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

const orderly = { code: 0, signal: null, lines: ['event dispose true', 'event disposed'] };

test.each(['SIGTERM', 'SIGINT'] as const)('%s shuts the process down', async (signal) => {
  await using life = live('serve');
  expect(await life.ready()).toEqual({ listening: 'http://127.0.0.1:1', pid: life.child.pid });
  life.child.kill(signal);
  expect(await life.end()).toEqual(orderly);
});

test.runIf(process.platform === 'linux')(
  'a list of processes shows the name and the arguments of a service',
  async () => {
    await using life = live('serve');
    await life.ready();
    expect(readFileSync(`/proc/${life.child.pid}/comm`, 'utf8')).toBe('portcullis-life\n');
    expect(readFileSync(`/proc/${life.child.pid}/cmdline`, 'utf8')).toMatch(/^portcullis-life serve\0+$/);
  },
);

test('the end of standard input shuts the process down if it is configured to', async () => {
  await using life = live('serve', { PORTCULLIS_EXIT_WITH_STDIN: '1' });
  await life.ready();
  life.child.stdin.end();
  expect(await life.end()).toEqual(orderly);
});

test.each(['serve', 'logging'])('a process whose pipes to its parent are broken still shuts down: %s', async (what) => {
  await using life = live(what, { PORTCULLIS_EXIT_WITH_STDIN: '1' });
  await life.ready();
  life.child.stdout.destroy();
  life.child.stderr.destroy();
  life.child.stdin.end();
  expect(await life.end()).toMatchObject({ code: 0, signal: null });
});

test('a process ignores the end of standard input by default', async () => {
  await using life = live('serve');
  life.child.stdin.end();
  await life.ready();
  life.child.kill('SIGTERM');
  expect(await life.end()).toEqual(orderly);
});

test('a second signal exits a process immediately', async () => {
  await using life = live('stuck');
  await life.ready();
  life.child.kill('SIGTERM');
  await life.says('event dispose true');
  life.child.kill('SIGINT');
  expect(await life.end()).toMatchObject({ code: 1, signal: null });
});

test('a process that exceeds its shutdown timeout exits with 1', async () => {
  await using life = live('stuck');
  await life.ready();
  life.child.kill('SIGTERM');
  const end = await life.end();
  expect(end).toMatchObject({ code: 1, lines: ['event dispose true', 'life: did not shut down within 300 ms'] });
});

test('open handles do not keep a process running after its shutdown', async () => {
  await using life = live('leaky');
  await life.ready();
  life.child.kill('SIGTERM');
  expect(await life.end()).toEqual(orderly);
});

test('a signal during the start of a process aborts the start', async () => {
  await using life = live('slow-start');
  await life.ready();
  life.child.kill('SIGTERM');
  expect(await life.end()).toEqual({ code: 0, signal: null, lines: ['event aborted'] });
});

test.each([
  ['misconfigured', 2, ['life: A is missing', 'life: B is wrong']],
  ['unlucky', 1, ['life: cannot start: cannot listen: port in use (port_in_use)']],
])('a process that is %s exits with code %d and prints its problems', async (what, code, lines) => {
  await using life = live(what);
  expect(await life.end()).toEqual({ code, signal: null, lines });
});

test('a process whose shutdown fails reports it and exits with 1', async () => {
  await using life = live('failing');
  await life.ready();
  life.child.kill('SIGTERM');
  expect(await life.end()).toMatchObject({
    code: 1,
    lines: ['event dispose true', 'life: cannot shut down: disk gone (EIO)'],
  });
});

test.each([
  ['buggy', /^life: cannot start: TypeError at /],
  ['rejecting', /^life: unexpected failure: TypeError at /],
  ['throwing', /^life: unexpected failure: TypeError at /],
])('a %s process prints one line without quoted data', async (what, line) => {
  await using life = live(what);
  const end = await life.end();
  expect(end.code).toBe(1);
  expect(end.lines).toHaveLength(1);
  expect(end.lines[0]).toMatch(line);
  expect(end.lines[0]).not.toContain('hunter2');
});
