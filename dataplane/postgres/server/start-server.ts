import type { HostPort } from '#kit/env/setting';
import { byLine, describeEnd, startChild } from '#kit/process/start-child';
import { type ServerDirectory, startProgram } from './run-program.ts';
import { ServerError } from './server-error.ts';
import { shownLine } from './shown-line.ts';

type ServerOptions = {
  readonly address: HostPort;
  readonly servesCluster: boolean;
  /** Receives the server's log lines, without statements and values. */
  readonly say: (line: string) => void;
};

export type RunningServer = {
  readonly pid: number;
  /** Resolves when the server has exited, with a description of its exit. */
  readonly ended: Promise<string>;
  /**
   * Stops the server by a fast shutdown: it disconnects clients, rolls back their transactions, and writes everything
   * to disk.
   */
  stop(): Promise<void>;
  /** Kills a server that hangs; the next start recovers the database. */
  kill(): void;
};

/**
 * Timeout for the start of the server. It is long because an interrupted crash recovery would start from the beginning
 * again.
 */
const startMs = 600_000;
/** Timeout of a fast shutdown. An immediate shutdown follows, after which the next start recovers the database. */
const stopMs = 20_000;

/**
 * Starts PostgreSQL and waits until it accepts connections. The server exits when this process exits, even after
 * SIGKILL. @throws ServerError
 */
export async function startServer(
  directory: ServerDirectory,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<RunningServer> {
  const { address, say } = options;
  const start = watchStart(say);
  const child = startProgram('postgres', directory, { last: serverArguments(options), stderr: byLine(start.read) });
  if (child.pid !== undefined) void endWithThisProcess(child.pid, child.ended);
  const stop = async (): Promise<void> =>
    void (await child.stop({ signal: 'SIGINT', graceMs: stopMs, last: 'SIGQUIT' }));
  void child.closed.then((end) => start.settle(start.isAddressTaken() ? 'address_taken' : describeEnd(end)));
  const timer = setTimeout(() => start.settle(`was not ready within ${startMs} ms`), startMs);
  signal.addEventListener('abort', () => start.settle('was told to end'), { once: true });
  const outcome = await start.outcome;
  clearTimeout(timer);
  if (outcome === 'ready' && child.pid !== undefined)
    return { pid: child.pid, ended: child.ended.then(describeEnd), stop, kill: () => child.signal('SIGKILL') };
  await stop();
  signal.throwIfAborted();
  if (outcome === 'address_taken') {
    throw new ServerError(
      'address_taken',
      `${address.host}:${address.port} is in use: choose another PORTCULLIS_LISTEN`,
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
    // The superuser may not connect over the network or the socket.
    superuser_reserved_connections: 0,
    shared_buffers: '64MB',
    // Huge pages are off: on a node that has huge pages which the pod may not use, they cause a bus error.
    huge_pages: 'off',
    // Keeps the write-ahead log small and recovery short.
    max_wal_size: '256MB',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    // Statements, parameters and error details are not logged, because they contain user data.
    log_statement: 'none',
    log_min_duration_statement: -1,
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length: 0,
    log_checkpoints: 'off',
    log_line_prefix: '',
    // ALTER SYSTEM is refused, so that clients cannot change these settings.
    allow_alter_system: 'off',
    ...(servesCluster ? podSettings : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

const podSettings = {
  // The chart allows services 196 connections in all (portcullis.checkConnections): twice the number that the replicas
  // need, because during a rollout the former replicas keep their connections until they end. An open connection takes
  // up to 6 MiB; postgresql.resources of the chart is enough for all of them.
  max_connections: 200,
  // The default for parallel queries is /dev/shm, which has 64 MiB in a pod whatever its memory limit, so that a large
  // query fails. System V segments are limited by the memory of the pod only.
  dynamic_shared_memory_type: 'sysv',
  // Seconds. Without keepalives, the connection to a lost node stays open for two hours.
  tcp_keepalives_idle: 60,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 6,
};

/** Reads the server's log lines until it is ready or has exited. */
function watchStart(say: (line: string) => void) {
  const { promise: outcome, resolve: settle } = Promise.withResolvers<string>();
  let isTaken = false;
  let isServing = false;
  return {
    /** `ready`, `address_taken`, or a description of the server's exit. */
    outcome,
    settle,
    isAddressTaken: () => isTaken,
    read(line: string): void {
      const shown = shownLine(line, isServing);
      if (shown !== undefined) say(shown);
      isTaken ||= /could not bind .* Address already in use/.test(line);
      if (!line.includes('database system is ready to accept connections')) return;
      isServing = true;
      settle('ready');
    },
  };
}

/** Starts a process that waits for the exit of this process, even by SIGKILL, and then stops the server. */
async function endWithThisProcess(pid: number, ended: Promise<unknown>): Promise<void> {
  const command = ['/bin/sh', '-c', 'read -r _; kill -INT "$1"', 'portcullis-postgres-guard', String(pid)];
  const guard = startChild(command, { env: {}, ownGroup: true, stdin: 'open' });
  await ended;
  guard.signal('SIGKILL');
}
