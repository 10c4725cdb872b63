import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { HostPort } from '#kit/env/setting';
import { type ServerDirectory, startProgram } from './run-program.ts';
import { ServerError } from './server-error.ts';
import { shownLine } from './shown-line.ts';

type ServerOptions = {
  readonly address: HostPort;
  readonly servesCluster: boolean;
  /** Receives its log lines, without statements and values. */
  readonly say: (line: string) => void;
};

export type RunningServer = {
  readonly pid: number;
  /** Resolves with a description of its exit, whatever the cause. */
  readonly ended: Promise<string>;
  /** Fast shutdown: disconnects clients, rolls back their transactions, and writes everything to disk. */
  stop(): Promise<void>;
};

/** Timeout of the start, long because of crash recovery: an interrupted recovery starts again from the beginning. */
const startMs = 600_000;
/** Timeout of a fast shutdown; afterwards an immediate shutdown leaves recovery to the next start. */
const stopMs = 20_000;

/**
 * Starts the server and waits until it accepts connections. The server exits with this process, also after SIGKILL.
 * @throws ServerError
 */
export async function startServer(
  directory: ServerDirectory,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { address, say } = options;
  const child = startProgram('postgres', directory, { last: serverArguments(options) });
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
  throw new ServerError('did_not_start', `PostgreSQL did not start (${outcome}): see its log lines above`);
}

function serverArguments({ address, servesCluster }: ServerOptions): readonly string[] {
  const settings = {
    listen_addresses: address.host,
    port: address.port,
    unix_socket_directories: '',
    max_connections: 100,
    // No client connects as superuser.
    superuser_reserved_connections: 0,
    shared_buffers: '64MB',
    // On a node with huge pages that the pod may not use, they cause a bus error.
    huge_pages: 'off',
    // Keeps the write-ahead log small and recovery short.
    max_wal_size: '256MB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // Statements, parameters and error details contain user data.
    log_statement: 'none',
    log_min_duration_statement: -1,
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length: 0,
    log_checkpoints: 'off',
    log_line_prefix: '',
    // Clients must not change these settings by ALTER SYSTEM.
    allow_alter_system: 'off',
    ...(servesCluster ? podSettings : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

const podSettings = {
  // The default for parallel queries is /dev/shm, which has 64 MiB in a pod whatever its memory limit, so that a large
  // query fails. System V segments are limited by the memory of the pod only.
  dynamic_shared_memory_type: 'sysv',
  // Seconds. Without keepalives the system keeps the connection of a lost node for two hours.
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

/** A process that waits for the exit of this one, also by SIGKILL, and then stops the server. */
function endWithThisProcess(pid: number): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  guard.on('error', () => undefined).stdin?.on('error', () => undefined);
  return guard;
}
