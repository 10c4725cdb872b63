import { spawnSync } from 'node:child_process';
import { childrenOf } from '#kit/testing/process-table';
import { startFollowed } from '#kit/testing/start-followed';

/** An unprivileged user that has a name, which PostgreSQL requires. */
export const containerUser = 65_534;

const main = new URL('../main.ts', import.meta.url).pathname;
/** Runs a command as process 1 of new Linux namespaces, without root. */
const contained = [
  ...['--mount', '--mount-proc', '--pid', '--ipc', '--fork'],
  ...['setpriv', `--reuid=${containerUser}`, `--regid=${containerUser}`, '--clear-groups', '--no-new-privs'],
  process.execPath,
];

/** Why this machine cannot start a process in new namespaces; undefined if it can. */
export const missingContainers: string | undefined =
  process.platform === 'linux' && spawnSync('unshare', [...contained, '--check', main]).status === 0
    ? undefined
    : 'needs root on Linux, and a checkout that others may read';

/** The database as process 1 of its own process namespace, as in a container. */
export type DatabaseContainer = {
  readonly url: string;
  readonly adminUrl: string;
  readonly log: () => string;
  /** Sends SIGTERM to the container and waits. @returns its exit code */
  stop(): Promise<number | NodeJS.Signals>;
  /** Kills every process in the container at once, as the kernel does when memory is exhausted. */
  kill(): Promise<void>;
};

export async function startContainer(environment: Readonly<Record<string, string>>): Promise<DatabaseContainer> {
  const child = startFollowed(['unshare', ...contained, main], { env: { PATH: process.env['PATH'], ...environment } });
  const first = await child.listens('the container');
  const { listening, admin } = JSON.parse(first) as { listening: string; admin: string };
  /** Sends the signal to the inner process: unshare waits for it and forwards no signals. */
  function end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    for (const pid of childrenOf(child.pid ?? 0, 'portcullis-postgres')) process.kill(pid, signal);
    return child.exit();
  }
  return {
    url: listening,
    adminUrl: admin,
    log: child.log,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  };
}
