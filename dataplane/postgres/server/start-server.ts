import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { HostPort } from '#kit/env/setting';
import { type Place, startProgram } from './run-program.ts';
import { ServerError } from './server-error.ts';
import { shownLine } from './shown-line.ts';

export type ServerOptions = {
  readonly address: HostPort;
  readonly servesCluster: boolean;
  /** Gets its lines; they hold no statement and no value. */
  readonly say: (line: string) => void;
};

export type RunningServer = {
  readonly pid: number;
  /** Settles with words about its end, whoever caused it. */
  readonly ended: Promise<string>;
  /** Fast shutdown: sessions are cut, what they did not commit is undone, then everything is on disk. */
  stop(): Promise<void>;
};

/** Recovery after a crash of the machine may take long; one that is given up begins anew. */
const startMs = 600_000;
/** A fast shutdown writes what is in memory; past this the server is told to recover at its next start. */
const stopMs = 20_000;

/**
 * Starts the server and waits until it takes connections. It ends with this process, however that ends.
 * @throws ServerError
 */
export async function startServer(place: Place, options: ServerOptions, signal: AbortSignal): Promise<RunningServer> {
  const { address, say } = options;
  const child = startProgram('postgres', place, { last: serverArguments(options) });
  const ended = endOf(child);
  const guard = child.pid === undefined ? undefined : endWithThisProcess(child.pid);
  void ended.then(() => guard?.kill('SIGKILL'));
  const stop = (): Promise<void> => stopServer(child, ended);
  const outcome = await untilReady(child, ended, say, signal);
  if (outcome === 'ready' && child.pid !== undefined) return { pid: child.pid, ended, stop };
  await stop();
  signal.throwIfAborted();
  if (outcome === 'address_taken') {
    throw new ServerError(
      'address_taken',
      `${address.host}:${address.port} is taken: choose another PORTCULLIS_LISTEN`,
    );
  }
  throw new ServerError('did_not_start', `PostgreSQL did not start (${outcome}): its lines above say why`);
}

function serverArguments({ address, servesCluster }: ServerOptions): readonly string[] {
  const settings = {
    listen_addresses: address.host,
    port: address.port,
    unix_socket_directories: '',
    max_connections: 100,
    // Nobody connects as superuser.
    superuser_reserved_connections: 0,
    shared_buffers: '64MB',
    // Where a node has huge pages and the pod has none of them, their use is a bus error.
    huge_pages: 'off',
    // The log of changes stays small beside what is kept, and a recovery short.
    max_wal_size: '256MB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // Lines of a statement, its parameters and the values that it broke on are data of users.
    log_statement: 'none',
    log_min_duration_statement: -1,
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length: 0,
    log_checkpoints: 'off',
    log_line_prefix: '',
    // What stands here shall not be changed by who may only write statements.
    allow_alter_system: 'off',
    ...(servesCluster ? podSettings : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

const podSettings = {
  // Memory that processes of one query share lies in /dev/shm elsewhere, which in a pod holds 64 MiB whatever the pod may
  // use: one large query would fail. Segments of System V are bounded by the memory of the pod alone.
  dynamic_shared_memory_type: 'sysv',
  // A client whose node vanished says nothing more; the system alone would keep its connection for two hours. Seconds.
  tcp_keepalives_idle: 60,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 6,
};

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${'code' in error ? error.code : error.name})`));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    );
  });
}

function untilReady(
  child: ChildProcess,
  ended: Promise<string>,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    let taken = false;
    let serving = false;
    const timer = setTimeout(() => resolve(`was not ready within ${startMs} ms`), startMs);
    signal.addEventListener('abort', () => resolve('was told to end'), { once: true });
    void ended.then((words) => {
      clearTimeout(timer);
      resolve(taken ? 'address_taken' : words);
    });
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      const shown = shownLine(line, serving);
      if (shown !== undefined) say(shown);
      taken ||= /could not bind .* Address already in use/.test(line);
      if (!line.includes('database system is ready to accept connections')) return;
      serving = true;
      clearTimeout(timer);
      resolve('ready');
    });
  });
}

async function stopServer(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGINT');
  const timer = setTimeout(() => child.kill('SIGQUIT'), stopMs);
  await ended;
  clearTimeout(timer);
}

/** A process that does nothing but wait for the end of this one, kill -9 included, and then ends the server. */
function endWithThisProcess(pid: number): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  guard.on('error', () => undefined).stdin?.on('error', () => undefined);
  return guard;
}
