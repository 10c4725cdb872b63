import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { followChild } from '../../../e2e/support/follow-child.ts';
import { childrenOf } from '../../../e2e/support/process-table.ts';
import { until } from '../../../e2e/support/until.ts';

/** A user without rights that the system knows: PostgreSQL asks for its name. */
export const containerUser = 65_534;

const main = new URL('../main.ts', import.meta.url).pathname;
/** A command as process 1 of namespaces of its own, without root. */
const contained = [
  ...['--mount', '--mount-proc', '--pid', '--ipc', '--fork'],
  ...['setpriv', `--reuid=${containerUser}`, `--regid=${containerUser}`, '--clear-groups', '--no-new-privs'],
  process.execPath,
];

/** Why no container-like process can be started here; undefined where one can. */
export const missingContainers: string | undefined =
  process.platform === 'linux' && spawnSync('unshare', [...contained, '--check', main]).status === 0
    ? undefined
    : 'needs root on Linux, and a checkout that others may read';

/** The process of the database as number 1 of processes that nobody else sees, as in a container. */
export type Container = {
  readonly url: string;
  readonly adminUrl: string;
  readonly log: () => string;
  /** Sends SIGTERM and waits. @returns the exit code */
  stop(): Promise<number | null>;
  /** Ends everything in it at once, as the kernel does where memory is short. */
  kill(): Promise<void>;
};

export async function startContainer(environment: Readonly<Record<string, string>>): Promise<Container> {
  const child = spawn('unshare', [...contained, main], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
  });
  const { log, firstLine, hasEnded } = followChild(child);
  await until('the container serves or ends', () => firstLine() !== undefined || hasEnded());
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

/** Tells the process inside: unshare outside of it waits for that one, and passes nothing on. */
async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const closed = once(child, 'close');
  for (const pid of childrenOf(child.pid ?? 0, 'main.ts')) process.kill(pid, signal);
  await closed;
  return child.exitCode;
}
