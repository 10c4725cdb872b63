import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, renameSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { z } from 'zod';
import { wait } from '#kit/time/wait';
import type { ProcessEnd } from './termination-reason.ts';

/** A log larger than this is renamed before a process starts. */
const maxLogBytes = 8_388_608;
/** Timeout of one request to /readyz. */
const lookMs = 2_000;
const firstLookMs = 25;
const longestLookMs = 500;

const readyLineSchema = z.looseObject({ listening: z.url({ protocol: /^http$/ }) });

/** A started process of the runtime. */
export type RuntimeProcess = {
  /** 0 if the process could not be started. */
  readonly pid: number;
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<ProcessEnd>;
  /** The origin that it listens on; undefined if it ended before. */
  readonly listening: Promise<string | undefined>;
  terminate(): void;
  kill(): void;
};

type RuntimeCommand = {
  readonly executable: string;
  readonly file: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly log: string;
};

/** Starts a process that exits with this one, when its standard input ends. */
export function startRuntimeProcess({ executable, file, env, log }: RuntimeCommand): RuntimeProcess {
  putAside(log);
  const descriptor = openSync(log, 'a', 0o600);
  try {
    const child = spawn(executable, [file], { env, stdio: ['pipe', 'pipe', descriptor] });
    child.stdin?.on('error', () => undefined);
    const ended = endOf(child);
    return {
      pid: child.pid ?? 0,
      ended,
      listening: Promise.race([firstLine(child), ended.then(() => undefined)]),
      terminate: () => child.kill('SIGTERM'),
      kill: () => child.kill('SIGKILL'),
    };
  } finally {
    closeSync(descriptor);
  }
}

/** Resolves to true when /readyz answers 200, and to false if the process ends or the signal is aborted. */
export async function becomesReady(origin: string, ended: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  void ended.then(() => stop.abort());
  let pause = firstLookMs;
  while (!either.aborted) {
    if (await looksReady(origin, either)) return !either.aborted;
    await wait(pause, either);
    pause = Math.min(longestLookMs, pause * 1.5);
  }
  return false;
}

async function looksReady(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await request(new URL('/readyz', origin), {
      signal: AbortSignal.any([signal, AbortSignal.timeout(lookMs)]),
      reset: true,
    });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}

async function endOf(child: ChildProcess): Promise<ProcessEnd> {
  const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
  child.once('error', () => resolve({ code: null, signal: null }));
  child.once('exit', (code, signal) => resolve({ code, signal }));
  return promise;
}

async function firstLine(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) return undefined;
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  child.stdout.resume();
  const parsed = readyLineSchema.safeParse(parseLine(line));
  return parsed.success ? parsed.data.listening : undefined;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function putAside(log: string): void {
  try {
    if (statSync(log).size > maxLogBytes) renameSync(log, `${log}.1`);
  } catch {
    // The log does not exist yet.
  }
}
