import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { ClusterError } from '../machine/cluster-error.ts';
import { type Component, type ComponentPlan, component } from '../process/component.ts';
import { onlyChildOf } from '../process/process-identity.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { SystemPrograms } from '../record/record.ts';
import type { Addresses } from './addresses.ts';

/** System folders to which programs of the cluster write, whatever their options are. */
const shadowedFolders = ['/var/lib', '/var/log'];
export const hiddenFolders = ['/run', ...shadowedFolders];

/**
 * Kernel settings that a kubelet changes. The kubelet gets copies of them, so that the machine's settings stay
 * unchanged.
 */
const kernelSettings = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];

/** Script that prepares the new namespaces before any other program runs in them. */
const preparation = `
mount --make-rshared /
mount -t tmpfs -o mode=755 tmpfs /run
for folder in ${shadowedFolders.join(' ')}; do
  mkdir -p "/run/shadow$folder/upper" "/run/shadow$folder/work"
  mount -t overlay -o "lowerdir=$folder,upperdir=/run/shadow$folder/upper,workdir=/run/shadow$folder/work" overlay "$folder"
done
mkdir /run/settings
for setting in ${kernelSettings.join(' ')}; do
  copy="/run/settings/$(echo "$setting" | tr / .)"
  cat "/proc/sys/$setting" >"$copy"
  mount --bind "$copy" "/proc/sys/$setting"
done
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
`;

/** Arguments of unshare that run a script inside new namespaces. */
function inNewNamespaces(script: string, ...args: readonly string[]): readonly string[] {
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  return [...namespaces, '/bin/sh', '-ec', script, 'sh', ...args];
}

/**
 * Creates namespaces with a pair of interfaces and removes them again. @returns the error of the system when it
 * refuses; undefined otherwise
 */
export function spaceProblem(unshare: string): string | undefined {
  const script = `${preparation}\nip link add one type veth peer name other`;
  const { status, stderr, error } = spawnSync(unshare, inNewNamespaces(script), { encoding: 'utf8' });
  if (status === 0) return undefined;
  return (stderr ?? '').trim().split('\n')[0] || (error?.message ?? 'it exited without a message');
}

/**
 * The Linux namespaces of a cluster (network, mounts, processes) and the process that holds them. When this process
 * exits, the kernel ends every process inside, and removes addresses, rules and mounts.
 */
export type Space = {
  readonly component: Component;
  /** Wraps a command line so that it runs inside the namespaces. @throws ClusterError when they do not exist */
  readonly enter: () => readonly string[];
  /** Connects machine and node by a pair of interfaces, unless they are connected. */
  readonly connect: () => Promise<void>;
  /** Removes the remaining interface of the pair. */
  readonly disconnect: () => Promise<void>;
};

type SpaceOptions = {
  readonly folder: string;
  readonly system: SystemPrograms;
  readonly pause: string;
  readonly addresses: Addresses;
};

export function space({ folder, system, pause, addresses }: SpaceOptions): Space {
  const { interfaceName, machine, node } = addresses;
  let holder: Component | undefined;
  const firstProcess = (): number | undefined => {
    const mark = holder?.running();
    return mark === undefined ? undefined : onlyChildOf(mark.pid);
  };
  const plan: ComponentPlan = {
    name: 'space',
    command: system.unshare,
    args: inNewNamespaces(`${preparation}\nexec "$1"`, pause),
    isReady: async () => {
      const pid = firstProcess();
      return pid !== undefined && basename(readlinkSync(`/proc/${pid}/exe`)) === basename(pause);
    },
    readyWithinMs: 10_000,
  };
  holder = component(plan, { folder, lasting: true });
  const enter = (...kinds: readonly string[]): readonly string[] => {
    const pid = firstProcess();
    if (pid === undefined)
      throw new ClusterError(
        'component-failed',
        'The namespaces of the cluster do not exist: start the cluster again.',
      );
    return [system.nsenter, `--target=${pid}`, ...kinds, '--'];
  };
  const ip = (...args: readonly string[]): Promise<string> => runClusterProgram(system.ip, args);
  const ipInside = (...args: readonly string[]): Promise<string> => {
    const [command = '', ...rest] = [...enter('--net'), system.ip, ...args];
    return runClusterProgram(command, rest);
  };
  const exists = async (): Promise<boolean> => (await ip('-o', 'link', 'show')).includes(` ${interfaceName}@`);
  const disconnect = async (): Promise<void> => {
    if (!(await exists())) return;
    await ip('link', 'delete', interfaceName).catch(async (error: unknown) => {
      // The kernel removes the interface some time after the namespace has ended.
      if (await exists()) throw error;
    });
  };
  const isConnected = async (): Promise<boolean> =>
    (await exists()) && (await ipInside('-o', 'address', 'show')).includes(` ${node}/30 `);
  return {
    component: holder,
    enter: () => enter('--net', '--mount', '--pid'),
    connect: async () => {
      if (await isConnected()) return;
      await disconnect();
      const peer = ['peer', 'name', 'machine', 'netns', String(firstProcess())];
      await ip('link', 'add', interfaceName, 'type', 'veth', ...peer);
      await ip('address', 'add', `${machine}/30`, 'dev', interfaceName);
      await ip('link', 'set', interfaceName, 'up');
      await ipInside('address', 'add', `${node}/30`, 'dev', 'machine');
      await ipInside('link', 'set', 'machine', 'up');
    },
    disconnect,
  };
}
