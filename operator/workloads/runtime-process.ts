import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import { openChildLog } from '#kit/process/child-log';
import { type ServiceProcess, startService } from '#kit/process/start-service';
import { wait } from '#kit/time/wait';

/** Timeout of one request to /readyz, milliseconds. */
const lookMs = 2_000;
const firstLookMs = 25;
const longestLookMs = 500;
/** Longest reason that is shown. */
const maxReason = 600;

/** A started process of the runtime. */
export type RuntimeProcess = ServiceProcess & {
  /**
   * The reason why it ended: its termination message, else the last line of its standard error, else its exit code or
   * signal. The runtime writes both texts, without texts of users.
   */
  reason(): Promise<string>;
};

type RuntimeOptions = {
  readonly file: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly messageFile: string;
  readonly logFile: string;
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[];
};

/** Starts a process that exits together with this process. */
export function startRuntimeProcess({
  file,
  env,
  messageFile,
  logFile,
  nodeOptions = [],
}: RuntimeOptions): RuntimeProcess {
  using log = openChildLog(logFile);
  const service = startService({ file, env, nodeOptions, stderr: log.descriptor });
  return {
    ...service,
    async reason() {
      const end = await service.ended;
      if (end.kind === 'killed') return `ended by ${end.signal}`;
      const message = oneLine(await readFile(messageFile, 'utf8').catch(() => ''));
      if (message !== '') return message;
      const how = end.kind === 'exited' ? `ended with code ${end.code}` : `cannot be started: ${end.error.name}`;
      const line = log.lines().at(-1);
      return line === undefined ? how : `${how}: ${oneLine(line)}`;
    },
  };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, maxReason);
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
