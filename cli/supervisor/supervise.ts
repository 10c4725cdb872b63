import type { DataDirectory } from '../platform/data-directory.ts';
import type { ProcessStatus } from '../platform/status-file.ts';
import { type ChildHandle, type ChildSpec, type ReadyLine, startChild } from './child.ts';
import { StartFailure } from './child-failure.ts';

export type Supervised = {
  /** The first ready line; rejects with StartFailure if the process ends before. */
  readonly firstReady: Promise<ReadyLine>;
  status(): ProcessStatus;
  /** Stops the process without a restart. */
  stop(graceMs: number): Promise<void>;
};

type SuperviseOptions = {
  readonly data: DataDirectory;
  /** Environment with which a restarted process keeps its addresses. */
  readonly pin: (first: ReadyLine) => Readonly<Record<string, string>>;
  readonly say: (sentence: string) => void;
  /** Called after each change of the status. */
  readonly onChange: () => void;
};

const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
/** A process that was ready for this long resets the backoff. */
const steadyMs = 30_000;

/** Starts a process. After it was ready once, restarts it with a growing backoff whenever it ends. */
export function supervise(spec: ChildSpec, options: SuperviseOptions): Supervised {
  const { data, say, onChange } = options;
  const first = Promise.withResolvers<ReadyLine>();
  first.promise.catch(() => undefined);
  const stopping = new AbortController();
  let child: ChildHandle | undefined;
  let ready = false;
  let restarts = 0;

  async function run(env: ChildSpec['env']): Promise<{ line: ReadyLine | undefined; how: string }> {
    const started = await startChild({ ...spec, env }, data, say).catch(whyNot);
    if (typeof started === 'string') return { line: undefined, how: started };
    child = started;
    if (stopping.signal.aborted) await child.stop(0);
    onChange();
    const line = await child.ready;
    if (line !== undefined) {
      ready = true;
      onChange();
      first.resolve(line);
    }
    const how = await child.ended;
    ready = false;
    return { line, how };
  }

  async function keepRunning(): Promise<void> {
    const begin = await run(spec.env);
    if (begin.line === undefined) {
      first.reject(new StartFailure(spec.name, begin.how, child?.lastWords() ?? ''));
      return;
    }
    const env = { ...spec.env, ...options.pin(begin.line) };
    let wait = firstBackoffMs;
    let { how } = begin;
    while (!stopping.signal.aborted) {
      onChange();
      say(`${spec.name} ${how}; restarting it in ${wait / 1_000} s`);
      await sleep(wait, stopping.signal);
      if (stopping.signal.aborted) return;
      restarts += 1;
      const started = performance.now();
      ({ how } = await run(env));
      wait = performance.now() - started > steadyMs ? firstBackoffMs : Math.min(wait * 2, longestBackoffMs);
    }
  }

  const running = keepRunning().catch((error: unknown) => first.reject(error));
  return {
    firstReady: first.promise,
    status: () => ({
      name: spec.name,
      kind: spec.kind,
      pid: child?.pid ?? -1,
      startedAt: child?.startedAt ?? '',
      ready,
      restarts,
    }),
    async stop(graceMs) {
      stopping.abort();
      await child?.stop(graceMs);
      await running;
    },
  };
}

/** A failed start, for example on a full disk, is retried like an exit. */
function whyNot(error: unknown): string {
  return `could not be started (${error instanceof Error && 'code' in error ? error.code : 'unexpected'})`;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
