import { userInfo } from 'node:os';
import { buildPrograms } from '../build/build-programs.ts';
import { ClusterError } from '../cluster-error.ts';
import type { AuditLevel } from '../control-plane/api-server.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { endStrays } from '../end-strays.ts';
import { kubectlOk } from '../kubectl.ts';
import { holdLock } from '../lock.ts';
import { clusterFolder, kubeconfigOfCluster } from '../places.ts';
import { startStage } from '../process/start-stage.ts';
import type { ProgressReporter } from '../progress.ts';
import { clusterNames, readRecord, type WholeRecord, writeRecord } from '../record.ts';
import { startOrRemove } from '../take-down.ts';
import { addressesOf, freeSlot } from './addresses.ts';
import { baseObjects } from './base-objects.ts';
import { controlGroupOf, nodeNameOf, spaceOf, wholeIdentitiesOf, wholeStages, wholeUrlOf } from './components.ts';
import { makeControlGroup } from './control-groups.ts';
import { importImage } from './import-image.ts';
import { buildPause } from './pause.ts';
import { hiddenFolders } from './space.ts';
import { systemPrograms } from './system-programs.ts';

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
