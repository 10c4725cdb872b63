import { userInfo } from 'node:os';
import { buildPrograms } from '../build/build-programs.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { kubectlOk } from '../control-plane/kubectl.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import { holdLock } from '../machine/lock.ts';
import { clusterFolder, kubeconfigOfCluster } from '../machine/places.ts';
import type { ProgressReporter } from '../machine/progress.ts';
import { startStage } from '../process/start-stage.ts';
import { type AuditLevel, clusterNames, readRecord, type WholeRecord, writeRecord } from '../record/record.ts';
import { addressesOf, freeSlot } from '../whole/addresses.ts';
import { baseObjects } from '../whole/base-objects.ts';
import {
  controlGroupOf,
  nodeNameOf,
  spaceOf,
  wholeIdentitiesOf,
  wholeStages,
  wholeUrlOf,
} from '../whole/components.ts';
import { makeControlGroup } from '../whole/control-groups.ts';
import { importImage } from '../whole/import-image.ts';
import { buildPause } from '../whole/pause.ts';
import { hiddenFolders } from '../whole/space.ts';
import { systemPrograms } from '../whole/system-programs.ts';
import { endStrays } from './end-strays.ts';
import { startOrRemove } from './take-down.ts';

type WholeOptions = {
  readonly name: string;
  readonly audit: AuditLevel | null;
  readonly apiServerFlags: readonly string[];
};

const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
  'coredns',
  'local-volumes',
] as const;

/** Longest path of a Unix socket on Linux, without the final zero byte. */
const socketPathBytes = 107;

function checkMachine(name: string): void {
  if (process.platform !== 'linux') {
    throw new ClusterError('missing-program', 'A whole cluster needs Linux, or Docker: start Docker and try again.');
  }
  if (userInfo().uid !== 0) {
    throw new ClusterError(
      'not-root',
      'A whole cluster without Docker needs root: start Docker, or repeat as root, or start only a control plane (--control-plane).',
    );
  }
  const folder = clusterFolder(name);
  const hidden = hiddenFolders.find((place) => folder.startsWith(`${place}/`));
  if (hidden !== undefined || Buffer.byteLength(`${folder}/containerd.sock`) > socketPathBytes) {
    const why = hidden === undefined ? 'is too long for the path of a socket' : `lies below ${hidden}`;
    throw new ClusterError('usage', `${folder} ${why}: let XDG_STATE_HOME name another folder.`);
  }
}

function takenSlots(): ReadonlySet<number> {
  const records = clusterNames().map(readRecord);
  return new Set(records.flatMap((record) => (record?.size === 'whole' ? [record.slot] : [])));
}

/** Writes the record with a cluster number that no concurrent start can take. */
async function claimSlot(rest: Omit<WholeRecord, 'slot'>): Promise<WholeRecord> {
  using _lock = await holdLock('slots');
  const record = { ...rest, slot: freeSlot(takenSlots()) };
  writeRecord(record);
  return record;
}

/** Starts every component of a recorded cluster that does not run. */
export async function startWholeStages(record: WholeRecord, progress: ProgressReporter): Promise<void> {
  await endStrays(record);
  const { name } = record;
  const kubeconfig = kubeconfigOfCluster(name);
  writeKubeconfig(kubeconfig, { name, url: wholeUrlOf(record), user: 'admin' }, wholeIdentitiesOf(record).admin);
  const space = spaceOf(record);
  makeControlGroup(controlGroupOf(record));
  await space.component.start();
  await space.connect();
  const [data = [], server = [], others = []] = wholeStages(record, space);
  await startStage(data, progress);
  await importImage(record, record.pause.archiveFile);
  await startStage(server, progress);
  const objects = JSON.stringify(baseObjects(addressesOf(record.slot).node));
  await progress.step('base objects', () => kubectlOk(kubeconfig, ['apply', '--filename=-'], objects));
  await startStage(others, progress);
  await progress.step('node', () =>
    kubectlOk(kubeconfig, ['wait', '--for=condition=Ready', `node/${nodeNameOf(record)}`, '--timeout=60s']),
  );
}

/** Starts a cluster with one node and waits until the node accepts pods. @throws ClusterError with a remedy */
export async function startWhole(options: WholeOptions, progress: ProgressReporter): Promise<WholeRecord> {
  checkMachine(options.name);
  const record = await claimSlot({
    size: 'whole',
    name: options.name,
    startedAt: new Date().toISOString(),
    system: await systemPrograms(progress),
    programs: await buildPrograms(programs, progress),
    pause: buildPause(),
    audit: options.audit,
    apiServerFlags: options.apiServerFlags,
    owner: null,
  });
  await startOrRemove(record.name, () => startWholeStages(record, progress));
  return record;
}
