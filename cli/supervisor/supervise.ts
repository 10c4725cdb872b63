import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import { openChildLog } from '#kit/process/child-log';
import type { ReadyLine } from '#kit/process/ready';
import { describeEnd } from '#kit/process/start-child';
import { type ServiceProcess, startService } from '#kit/process/start-service';
import { watchAnswers } from '#kit/process/watch-answers';
import { wait } from '#kit/time/wait';
import { CliError } from '../errors/cli-error.ts';
import { checkout } from '../platform/data-directory.ts';
import type { ProcessStatus } from '../platform/status-file.ts';
import { keepRunNote } from './keep-run-note.ts';
import { allocatorOf, type ChildSpec, entries, nodeOptionsOf } from './platform-processes.ts';
import { supervisedIn } from './wait-for-orphans.ts';

/**
 * A process of the platform exited before it was ready. `how` describes its exit; `words` are the last lines of its
 * log.
 */
export class StartFailure extends CliError {
  /** Whether another program listens on an address of the process. */
  readonly isAddressTaken: boolean;

  constructor(name: string, how: string, words: string) {
    super('failed', `The process ${name} ${how} before it served${words === '' ? '.' : `: ${words}`}`);
    this.name = 'StartFailure';
    this.isAddressTaken = /\((?:port_in_use|address_taken)\)/.test(words);
  }
}

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
  /** A process that does not answer for this long is killed. */
  readonly hungAfterMs: number;
  /** Called after each change of the status. */
  readonly onChange: () => void;
};

const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
/** A process that was ready for this long resets the backoff. */
const steadyMs = 30_000;

/** Starts a process. After it was ready once, restarts it with a growing backoff whenever it ends or hangs. */
export function supervise(spec: ChildSpec, options: SuperviseOptions): Supervised {
  const { say, onChange } = options;
  const first = Promise.withResolvers<ReadyLine>();
  first.promise.catch(() => undefined);
  const stopping = new AbortController();
  let child: Started | undefined;
  let ready = false;
  let answering = true;
  let restarts = 0;
  let ended: string | undefined;

  async function run(env: ChildSpec['env']): Promise<{ line: ReadyLine | undefined; how: string }> {
    const started = await start({ ...spec, env }, options).catch(whyNot);
    if (typeof started === 'string') {
      ended = started;
      return { line: undefined, how: started };
    }
    child = started;
    if (stopping.signal.aborted) await child.stop({ graceMs: 0 });
    onChange();
    const line = await child.ready;
    if (line !== undefined) {
      ready = true;
      answering = true;
      ended = undefined;
      onChange();
      first.resolve(line);
    }
    const hangs = line !== undefined && (await endIfHung(child, spec.health(line)));
    const end = describeEnd(await child.ended);
    ready = false;
    const how = hangs ? `did not answer for ${options.hungAfterMs / 1_000} s and was killed` : end;
    const words = child.lastWords();
    ended = words === '' ? how : `${how}: ${words}`;
    return { line, how };
  }

  /** Watches a process until it ends or shuts down. A hung process is killed, because it cannot shut down. */
  async function endIfHung(started: Started, url: string): Promise<boolean> {
    const over = new AbortController();
    void started.ended.then(() => over.abort());
    const hangs = await watchAnswers(url, {
      hungAfterMs: options.hungAfterMs,
      signal: AbortSignal.any([over.signal, stopping.signal]),
      onChange(now) {
        answering = now;
        if (!now) say(`${spec.name} does not answer`);
        onChange();
      },
    });
    if (hangs) started.signal('SIGKILL');
    return hangs;
  }

  async function keepRunning(): Promise<void> {
    const begin = await run(spec.env);
    if (begin.line === undefined) {
      first.reject(new StartFailure(spec.name, begin.how, child?.lastWords() ?? ''));
      return;
    }
    const env = { ...spec.env, ...options.pin(begin.line) };
    let pauseMs = firstBackoffMs;
    let { how } = begin;
    while (!stopping.signal.aborted) {
      onChange();
      say(`${spec.name} ${how}; restarting it in ${pauseMs / 1_000} s`);
      await wait(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return;
      restarts += 1;
      const started = performance.now();
      ({ how } = await run(env));
      pauseMs = performance.now() - started > steadyMs ? firstBackoffMs : Math.min(pauseMs * 2, longestBackoffMs);
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
      ready: ready && answering,
      answering: answering || !ready,
      restarts,
      ...(ended === undefined ? {} : { ended }),
    }),
    async stop(graceMs) {
      stopping.abort();
      await child?.stop({ graceMs });
      await running;
    },
  };
}

type Started = ServiceProcess & {
  readonly startedAt: string;
  /** Returns the last lines of its log since the start, for an error message. */
  lastWords(): string;
};

/** Starts one process of the platform. Its argument is the data directory, which is visible in lists of processes. */
async function start({ name, kind, env }: ChildSpec, { data, say }: SuperviseOptions): Promise<Started> {
  using log = openChildLog(join(data.logs, `${name}.log`));
  const service = startService({
    file: join(checkout, entries[kind]),
    args: [data.root],
    nodeOptions: nodeOptionsOf(kind),
    cwd: checkout,
    ownGroup: true,
    stderr: log.descriptor,
    env: { ...allocatorOf(kind), ...process.env, ...env, ...supervisedIn(data) },
  });
  const startedAt = new Date().toISOString();
  const listen = env['PORTCULLIS_ADMIN_LISTEN'];
  const admin = listen === undefined ? {} : { admin: `http://${listen}` };
  const note = JSON.stringify({ name, kind, pid: service.pid, startedAt, ...admin });
  await keepRunNote(join(data.run, `${name}.json`), note, service.ended, say);
  const isText = (line: string): boolean => !line.startsWith('{');
  const lastWords = (): string => log.lines().filter(isText).slice(-3).join(' ').slice(-600);
  return { ...service, startedAt, lastWords };
}

/** A failed start, for example on a full disk, is retried like an exit. */
function whyNot(error: unknown): string {
  return `could not be started (${error instanceof Error && 'code' in error ? error.code : 'unexpected'})`;
}
