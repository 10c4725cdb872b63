import { byLine, type Child, type ChildOptions, startChild } from '#kit/process/start-child';
import { until } from './until.ts';

/** A process whose output is kept. */
export type FollowedChild = Child & {
  /** The text that the process has written to stderr up to now. */
  readonly log: () => string;
  /** The text that the process has written to stdout and stderr up to now. */
  readonly output: () => string;
  /** Waits for the first line on stdout, where a service reports its address; fails with the log if it exits before. */
  readonly listens: (what: string) => Promise<string>;
  /** Waits until it exits; returns the exit code, or the signal that ended it. */
  readonly exit: () => Promise<number | NodeJS.Signals>;
  /** Sends a signal (SIGTERM when absent), waits for the exit, and returns the same result. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
};

/** A process that has not exited after this time is killed, and the test gets SIGKILL as the result. */
const graceMs = 240_000;

export function startFollowed(
  command: readonly string[],
  options: Pick<ChildOptions, 'env' | 'cwd' | 'stdin'>,
): FollowedChild {
  let first: string | undefined;
  const lines = byLine((line) => {
    first ??= line;
  });
  let isClosed = false;
  let log = '';
  let output = '';
  const child = startChild(command, {
    ...options,
    stdout: (text) => {
      output += text;
      lines(text);
    },
    stderr: (text) => {
      output += text;
      log += text;
    },
  });
  void child.closed.then(() => {
    isClosed = true;
  });
  async function exit(): Promise<number | NodeJS.Signals> {
    const watchdog = setTimeout(() => child.signal('SIGKILL'), graceMs);
    const end = await child.closed;
    clearTimeout(watchdog);
    if (end.kind === 'not_started') throw end.error;
    return end.kind === 'exited' ? end.code : end.signal;
  }
  return {
    ...child,
    log: () => log,
    output: () => output,
    async listens(what) {
      await until(`${what} listens`, () => isClosed || first !== undefined).catch((error: unknown) => {
        child.signal('SIGKILL');
        throw error;
      });
      if (first === undefined) throw new Error(`${what} ended before it listened: ${log.slice(-2_000)}`);
      return first;
    },
    exit,
    end(signal = 'SIGTERM') {
      child.signal('SIGCONT');
      child.signal(signal);
      return exit();
    },
  };
}
