import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '#kit/testing/process-table';
import { startFollowed } from '#kit/testing/start-followed';

/**
 * Runs the files of an image as a pod does: process 1 is not root, sees only its own processes, and can write only to
 * mounts.
 */
export type ImagePod = {
  /** The first line that a service wrote to standard output. */
  readonly ready: Readonly<Record<string, string>>;
  readonly log: () => string;
  /** The text that the program has written to standard output and standard error. */
  readonly output: () => string;
  /** Runs a program of the image inside of the pod, as its user. */
  execute(...command: readonly string[]): { readonly code: number | null; readonly output: string };
  /** Sends a signal to process 1 and waits. @returns the exit code, or the signal that ended the process */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
};

/** Mounts the image as containerd does, with the 64 MiB of shared memory that every pod has. */
const script = `
set -eu
tree=$1 volume=$2 mounted=$3 path=$4
shift 4
mount --bind "$tree" "$tree"
mount -t proc proc "$tree/proc"
mount -t tmpfs dev "$tree/dev"
for name in null zero random urandom; do
  touch "$tree/dev/$name"
  mount --bind "/dev/$name" "$tree/dev/$name"
done
mkdir "$tree/dev/shm"
mount -t tmpfs -o size=64m,mode=1777 shm "$tree/dev/shm"
mount --bind "$volume" "$tree$mounted"
mount -t tmpfs -o mode=1777 tmp "$tree/tmp"
mount -o remount,ro,bind "$tree"
exec env PATH="$path" "$(command -v chroot)" --userspec=65532:65532 --groups=65532 "$tree" /usr/local/bin/node "$@"
`;

type PodOptions = {
  /** Folder with the unpacked files of the image. */
  readonly tree: string;
  readonly volume: string;
  /** Mount path of the volume in the pod. */
  readonly mounted: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

export async function startImagePod({ tree, volume, mounted, args, environment }: PodOptions): Promise<ImagePod> {
  for (const path of ['proc', 'dev', mounted]) mkdirSync(join(tree, path), { recursive: true });
  const namespaces = ['--mount', '--pid', '--ipc', '--fork'];
  const path = environment['PATH'] ?? '/usr/local/bin';
  const command = ['unshare', ...namespaces, 'sh', '-c', script, 'sh', tree, volume, mounted, path, ...args];
  const child = startFollowed(command, {
    env: { ...environment, PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  const first = await child.listens('the pod');
  const mainProcess = () => childrenOf(child.pid ?? 0, 'portcullis-');
  return {
    // The standalone platform prints sentences instead.
    ready: first.startsWith('{') ? (JSON.parse(first) as Record<string, string>) : {},
    log: child.log,
    output: child.output,
    execute(...words) {
      const [pid] = mainProcess();
      const places = [`--target=${pid}`, '--mount', '--pid', '--root', '--wd'];
      const identity = ['--setuid=65532', '--setgid=65532'];
      const env = { ...environment, PATH: `${path}:/usr/bin:/bin` };
      const end = spawnSync('nsenter', [...places, ...identity, ...words], { encoding: 'utf8', env });
      return { code: end.status, output: end.stdout + end.stderr };
    },
    end(signal) {
      for (const pid of mainProcess()) process.kill(pid, signal);
      return child.exit();
    },
  };
}
