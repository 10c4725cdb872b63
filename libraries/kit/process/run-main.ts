import { ConfigError } from '../env/config-error.ts';
import { describeFailure } from '../log/describe-failure.ts';
import { endsWithStdin } from './config.ts';

type Main = {
  /** Prefix of the lines on standard error, and the name in lists of processes after `portcullis-`. */
  readonly name: string;
  /** Starts the service. The signal is aborted when the process must end, also during the start. */
  readonly start: (signal: AbortSignal) => Promise<AsyncDisposable>;
  /** Shutdown timeout of the service, milliseconds; 30,000 when absent. */
  readonly shutdownMs?: number;
};

const EXIT = { ok: 0, failed: 1, config: 2 } as const;
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const SHUTDOWN_MS = 30_000;
/**
 * Shutdown timeout after the parent process ended; it is short because the clients of the service have ended with the
 * parent.
 */
const ORPHAN_MS = 5_000;
/** Time for idle client connections to close after the service has ended; then the process exits. */
const LEFTOVER_MS = 500;

/**
 * Starts a service, waits for a signal and shuts it down.
 *
 * SIGTERM and SIGINT dispose the service and exit with 0, or with 1 if that fails or exceeds `shutdownMs`; a second signal
 * exits immediately. With PORTCULLIS_EXIT_WITH_STDIN=1 the end of standard input acts as such a signal, with a timeout of
 * five seconds. A ConfigError prints its problems and exits with 2. Any other failure to start and any uncaught error
 * print one line and exit with 1.
 */
export function runMain({ name, start, shutdownMs = SHUTDOWN_MS }: Main): void {
  process.title = [`portcullis-${name}`, ...process.argv.slice(2)].join(' ');
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
    arm(withinMs, EXIT.failed, `did not shut down within ${withinMs} ms`);
    stop.abort(new DOMException('the process is shutting down', 'AbortError'));
  }
  function onSignal(): void {
    if (stop.signal.aborted) process.exit(EXIT.failed);
    end(shutdownMs);
  }
  function onUncaught(error: unknown): void {
    say(`unexpected failure: ${describeFailure(error)}`);
    process.exit(EXIT.failed);
  }

  // After the parent has ended, the pipes are closed; a failed write must not interrupt the shutdown.
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
    say(`cannot shut down: ${describeFailure(error)}`);
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
