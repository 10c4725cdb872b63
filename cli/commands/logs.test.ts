import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { CliError } from '../errors/cli-error.ts';
import { addPodLogs } from '../kubectl/commands/logs.ts';
import type { LogSelection } from '../logs/log-reader.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { addLogs } from './logs.ts';

afterEach(() => void vi.restoreAllMocks());

/** The lines of each log; the reason for which a log is absent. */
type Logs = Readonly<Record<string, readonly string[] | string>>;

async function logs(all: Logs, words: readonly string[], add = addLogs) {
  const seen: LogSelection[] = [];
  async function* read(name: string, selection: LogSelection) {
    seen.push(selection);
    const log = all[name] ?? [];
    if (typeof log === 'string') throw new CliError('not_found', `${name} has no log: ${log}`);
    yield* log;
  }
  const list = async () => Object.keys(all).map((name) => ({ name, component: name.replace(/-.*/, '') }));
  const opened = { logs: { list, read }, explain: async () => undefined, [Symbol.asyncDispose]: async () => undefined };
  const source: Partial<ResourceSource> = { addOptions: (command) => command, openLogs: async () => opened };
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const warned = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const program = new Command('kubectl portcullis');
  add(program, source as ResourceSource);
  const error = await program.parseAsync(['logs', ...words], { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const text = (spy: typeof out) => spy.mock.calls.map(([piece]) => String(piece)).join('');
  return { error, stdout: text(out), stderr: text(warned), seen };
}

const some: Logs = { 'gateway-1': ['one'], 'gateway-2': 'It is waiting to start.', 'operator-1': ['two'] };

test.each([[[]], [['--follow']]])('a pod without a log does not end the logs of the others, %j', async (words) => {
  const { error, stdout, stderr } = await logs(some, words);
  expect(error).toBeUndefined();
  expect(stdout).toBe('[gateway-1] one\n[operator-1] two\n');
  expect(stderr).toBe('portcullis: warning: gateway-2 has no log: It is waiting to start.\n');
});

test('a single missing log, and logs that are all missing, are an error', async () => {
  const absent = { 'gateway-1': 'It is waiting.', 'gateway-2': 'It is waiting.' };
  expect((await logs(absent, ['gateway-1'])).error).toMatchObject({ exit: 'not_found', message: /has no log/ });
  expect((await logs(absent, ['gateway'])).error).toMatchObject({ exit: 'not_found', message: /^None of the 2 logs/ });
});

test('only the kubectl plugin reads the log of the previous run, and refuses --previous with --follow', async () => {
  const previous = await logs(some, ['gateway-1', '--previous'], addPodLogs);
  expect([previous.error, previous.seen.map((one) => one.previous)]).toEqual([undefined, [true]]);
  expect((await logs(some, ['gateway-1'], addPodLogs)).seen[0]).not.toHaveProperty('previous');
  const both = await logs(some, ['gateway-1', '--previous', '--follow'], addPodLogs);
  expect([both.error, both.seen]).toEqual([expect.objectContaining({ exit: 'usage' }), []]);
});
