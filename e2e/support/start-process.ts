import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../../hack/check/run-tool.ts';
import { followChild } from './follow-child.ts';
import { until } from './until.ts';

/** A process of the platform, started as the platform starts it. */
export type RunningProcess = AsyncDisposable & {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The first line of stdout, as JSON: the addresses that the process listens on. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** Origin on which it listens. */
  readonly url: string;
  /** Everything on stderr so far. */
  readonly log: () => string;
  /** Sends a signal and waits until the process exits; returns the exit code, or the signal that ended it. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
};

export type ProcessOptions = {
  /** Path from the root folder, for example runtime/main.ts. */
  readonly file: string;
  readonly args?: readonly string[];
  /** All environment variables besides PATH and HOME. */
  readonly environment: Readonly<Record<string, string>>;
};

/** A process that has not exited by then is killed, and the test gets SIGKILL as its result. */
const graceMs = 240_000;

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    const watchdog = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await exited;
    clearTimeout(watchdog);
  }
  return child.exitCode ?? child.signalCode ?? 1;
}

/** Starts a main.ts and waits until it listens; fails with the end of its log if it exits before. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const child = spawn(process.execPath, [`${root}/${options.file}`, ...(options.args ?? [])], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: `${root}/node_modules/.cache/node`,
      ...options.environment,
    },
  });
  child.stdin.on('error', () => {});
  const { log, firstLine, hasEnded } = followChild(child);
  try {
    await until(`${options.file} listens`, () => hasEnded() || firstLine() !== undefined);
    const first = firstLine();
    if (first === undefined) throw new Error(`${options.file} ended before it listened: ${log().slice(-2_000)}`);
    const ready = JSON.parse(first) as Record<string, unknown>;
    return {
      child,
      pid: child.pid ?? 0,
      ready,
      url: String(ready.listening),
      log,
      end: (signal = 'SIGTERM') => endProcess(child, signal),
      [Symbol.asyncDispose]: async () => {
        await endProcess(child, 'SIGTERM');
      },
    };
  } catch (error) {
    await endProcess(child, 'SIGKILL');
    throw error;
  }
}
