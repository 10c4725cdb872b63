import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { followChild } from '../../../e2e/support/follow-child.ts';
import { childrenOf } from '../../../e2e/support/process-table.ts';
import { until } from '../../../e2e/support/until.ts';

/** An unprivileged user with a name, which PostgreSQL requires. */
export const containerUser = 65_534;

const main = new URL('../main.ts', import.meta.url).pathname;
/** A command as process 1 of new namespaces, without root. */
const contained = [
  ...['--mount', '--mount-proc', '--pid', '--ipc', '--fork'],
  ...['setpriv', `--reuid=${containerUser}`, `--regid=${containerUser}`, '--clear-groups', '--no-new-privs'],
  process.execPath,
];

/** Why such a process cannot be started here; undefined if it can. */
export const missingContainers: string | undefined =
  process.platform === 'linux' && spawnSync('unshare', [...contained, '--check', main]).status === 0
    ? undefined
    : 'needs root on Linux, and a checkout that others may read';

/** The database as process 1 of its own process namespace, as in a container. */
export type Container = {
  readonly url: string;
  readonly adminUrl: string;
  readonly log: () => string;
  /** Sends SIGTERM and waits. @returns the exit code */
  stop(): Promise<number | null>;
  /** Kills every process in it at once, as the kernel does when memory is exhausted. */
  kill(): Promise<void>;
};

export async function startContainer(environment: Readonly<Record<string, string>>): Promise<Container> {
  const child = spawn('unshare', [...contained, main], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
  });
  const { log, firstLine, hasEnded } = followChild(child);
  await until('the container serves or exits', () => firstLine() !== undefined || hasEnded());
  const first = firstLine();
  if (first === undefined) throw new Error(`ended before it served: ${log()}`);
  const { listening, admin } = JSON.parse(first) as { listening: string; admin: string };
  return {
    url: listening,
    adminUrl: admin,
    log,
    stop: () => ended(child, 'SIGTERM'),
    async kill() {
      await ended(child, 'SIGKILL');
    },
  };
}

/** Signals the inner process: unshare waits for it and forwards no signals. */
async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const closed = once(child, 'close');
  for (const pid of childrenOf(child.pid ?? 0, 'portcullis-postgres')) process.kill(pid, signal);
  await closed;
  return child.exitCode;
}
