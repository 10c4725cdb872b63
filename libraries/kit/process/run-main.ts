import { ConfigError } from '../env/config-error.ts';
import { describeFailure } from '../log/describe-failure.ts';
import { endsWithStdin } from './config.ts';

export type Main = {
  /** The name of the process in what it writes to standard error. */
  readonly name: string;
  /** Starts the service. The signal is aborted when the process is told to end, also while it starts. */
  readonly start: (signal: AbortSignal) => Promise<AsyncDisposable>;
  /** How long the service may take to end; 30 s where not given. */
  readonly shutdownMs?: number;
};

const EXIT = { ok: 0, failed: 1, config: 2 } as const;
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const SHUTDOWN_MS = 30_000;
/** With the parent gone nobody waits for what is in flight. */
const ORPHAN_MS = 5_000;
/** What may still hold the process when all is ended: idle connections of clients. */
const LEFTOVER_MS = 500;

/**
 * The life of a process: start, wait to be told to end, end.
 *
 * SIGTERM and SIGINT dispose the service and exit with 0, or with 1 where that fails or takes longer than
 * `shutdownMs`; a second signal ends at once. With PORTCULLIS_EXIT_WITH_STDIN=1 the end of standard input is such a
 * signal, with five seconds at most. A ConfigError prints its sentences and exits with 2, any other failure to start
 * prints one line and exits with 1, and so does an error that nothing caught.
 */
export function runMain({ name, start, shutdownMs = SHUTDOWN_MS }: Main): void {
  const stop = new AbortController();
  const alive = setInterval(() => undefined, 2 ** 30);
  let watchdog: NodeJS.Timeout | undefined;

  function say(sentence: string): void {
    process.stderr.write(`${name}: ${sentence}\n`);
  }
  function arm(ms: number, code: ExitCode, sentence?: string): void {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      if (sentence !== undefined) say(sentence);
      process.exit(code);
    }, ms);
    watchdog.unref();
  }
  function end(withinMs: number): void {
    if (stop.signal.aborted) return;
    arm(withinMs, EXIT.failed, `did not end within ${withinMs} ms`);
    stop.abort(new DOMException('the process is told to end', 'AbortError'));
  }
  function onSignal(): void {
    if (stop.signal.aborted) process.exit(EXIT.failed);
    end(shutdownMs);
  }
  function onUncaught(error: unknown): void {
    say(`unexpected failure: ${describeFailure(error)}`);
    process.exit(EXIT.failed);
  }

  // With the parent gone nobody reads what is written here; that must not cut an orderly end short.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);
  if (endsWithStdin()) watchStdin(() => end(Math.min(shutdownMs, ORPHAN_MS)));
  void live(start, stop.signal, say).then((code) => {
    clearInterval(alive);
    process.exitCode = code;
    arm(LEFTOVER_MS, code);
  });
}

async function live(
  start: (signal: AbortSignal) => Promise<AsyncDisposable>,
  signal: AbortSignal,
  say: (sentence: string) => void,
): Promise<ExitCode> {
  let service: AsyncDisposable;
  try {
    service = await start(signal);
  } catch (error) {
    if (signal.aborted) return EXIT.ok;
    if (error instanceof ConfigError) {
      for (const problem of error.problems) say(problem);
      return EXIT.config;
    }
    say(`cannot start: ${describeFailure(error)}`);
    return EXIT.failed;
  }
  await aborted(signal);
  try {
    await service[Symbol.asyncDispose]();
    return EXIT.ok;
  } catch (error) {
    say(`cannot end in order: ${describeFailure(error)}`);
    return EXIT.failed;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function watchStdin(onEnd: () => void): void {
  process.stdin.on('end', onEnd).on('error', onEnd).on('close', onEnd);
  process.stdin.resume();
  process.stdin.unref();
}
