import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ClusterError } from '../machine/cluster-error.ts';
import type { ProgressReporter } from '../machine/progress.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { SystemPrograms } from '../record/record.ts';

/** System programs that a whole cluster needs, and the Debian packages that contain them. */
const packageOf = {
  unshare: 'util-linux',
  nsenter: 'util-linux',
  mount: 'mount',
  ip: 'iproute2',
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  iptables: 'iptables',
} as const satisfies Record<Exclude<keyof SystemPrograms, 'cniFolder'>, string>;

const pluginPackage = 'containernetworking-plugins';
const pluginFolders = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];
const plugins = ['ptp', 'host-local', 'loopback', 'portmap'];

/** Folders of administration programs, which are often not on PATH. */
const searchPath = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin', '/usr/bin', '/bin'];

function find(program: string): string | undefined {
  return searchPath.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

function findPlugins(): string | undefined {
  return pluginFolders.find((folder) => plugins.every((plugin) => existsSync(join(folder, plugin))));
}

function missingPackages(): readonly string[] {
  const missing = Object.entries(packageOf).flatMap(([program, name]) => (find(program) === undefined ? [name] : []));
  return [...new Set([...missing, ...(findPlugins() === undefined ? [pluginPackage] : [])])];
}

/** Package lists are downloaded only when they lack a needed package. */
async function install(packages: readonly string[]): Promise<void> {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (...args: readonly string[]) => runClusterProgram('apt-get', args, environment);
  const command = ['install', '--yes', '--no-install-recommends', ...packages];
  await aptGet(...command).catch(async () => {
    await aptGet('update');
    await aptGet(...command);
  });
}

/**
 * Installs missing packages if this process is root on Debian. @throws ClusterError that names the packages otherwise
 */
export async function systemPrograms(progress: ProgressReporter): Promise<SystemPrograms> {
  const missing = missingPackages();
  if (missing.length > 0) {
    if (find('apt-get') === undefined) {
      throw new ClusterError(
        'missing-program',
        `The cluster needs the Debian packages ${missing.join(', ')}, or what this system has in their place: install them with its package manager, or start Docker, and try again.`,
      );
    }
    await progress.step(`installing ${missing.join(', ')}`, () => install(missing));
  }
  const found = Object.keys(packageOf).map((program) => [program, find(program)] as const);
  const cniFolder = findPlugins();
  const absent = found.filter(([, path]) => path === undefined).map(([program]) => program);
  if (absent.length > 0 || cniFolder === undefined) {
    const names = [...absent, ...(cniFolder === undefined ? ['the CNI plugins'] : [])].join(', ');
    throw new ClusterError('missing-program', `The packages are installed, but ${names} cannot be found on PATH.`);
  }
  return { ...(Object.fromEntries(found) as Record<keyof typeof packageOf, string>), cniFolder };
}
