import { dockerRuns } from '../kind/docker.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import { holdLock } from '../machine/lock.ts';
import type { ProgressReporter } from '../machine/progress.ts';
import { isAtWork } from '../process/process-identity.ts';
import { type AuditLevel, type ClusterRecord, readRecord, type WholeRecord } from '../record/record.ts';
import { spaceOf } from '../whole/components.ts';
import { type ControlPlaneOptions, startControlPlane, startRecorded } from './start-control-plane.ts';
import { startKind } from './start-kind.ts';
import { startWhole, startWholeStages } from './start-whole.ts';
import { type ClusterState, clusterState } from './status.ts';
import { removeAbandoned, takeDown } from './take-down.ts';

type WantedCluster = {
  readonly name: string;
  /**
   * How the cluster runs. `none`: a control plane without nodes. `local`: with programs of this machine. `any`: in
   * Docker if Docker runs, else local.
   */
  readonly node: 'none' | 'local' | 'any';
  /** Whether kube-controller-manager also runs; only for a control plane without nodes. */
  readonly controllers?: boolean;
  /** Number of simulated nodes. Only for a control plane. */
  readonly pretendedNodes?: number | undefined;
  /** The level of the audit log; not available in Docker. */
  readonly audit?: AuditLevel | undefined;
  /** Port of the API server of a control plane. */
  readonly port?: number | undefined;
  /** Additional flags of the API server; not available in Docker. */
  readonly apiServerFlags?: readonly string[];
};

async function startNew(wanted: WantedCluster, progress: ProgressReporter): Promise<void> {
  const { name, node, controllers = false, pretendedNodes = 0, audit, port, apiServerFlags = [] } = wanted;
  progress.say(`Starting the cluster ${name} ...`);
  if (node === 'none') {
    const shape = { name, controllers, pretendedNodes, audit: audit ?? false, apiServerFlags };
    const options: ControlPlaneOptions = { ...shape, lasting: true, progress };
    await startControlPlane(port === undefined ? options : { ...options, port });
    return;
  }
  const isPlain = audit === undefined && apiServerFlags.length === 0;
  if (node === 'any' && isPlain && (await dockerRuns())) await startKind(name, progress);
  else await startWhole({ name, audit: audit ?? null, apiServerFlags }, progress);
}

function checkSize(record: ClusterRecord, wanted: WantedCluster): void {
  const hasNode = record.size !== 'control-plane';
  if (hasNode === (wanted.node !== 'none')) return;
  const sentence = hasNode ? 'a whole cluster' : 'a whole cluster was requested where a control plane is started';
  throw new ClusterError('usage', `${record.name} is ${sentence}: take it down first, or choose another name.`);
}

/** The processes of a killed namespace may take a moment to exit. */
function hasSpace(record: WholeRecord): boolean {
  const space = spaceOf(record).component.running();
  return space !== undefined && isAtWork(space);
}

/** Stopped components are restarted; a node whose machine was rebooted cannot be reused. */
async function startRest(record: ClusterRecord, wanted: WantedCluster, progress: ProgressReporter): Promise<void> {
  if (record.owner !== null) {
    throw new ClusterError('usage', `The cluster ${record.name} belongs to a running test: choose another name.`);
  }
  checkSize(record, wanted);
  const state = await clusterState(record.name);
  if (state?.ready === true) {
    progress.say(`The cluster ${record.name} runs already, with the options that it was started with.`);
    return;
  }
  if (record.size === 'control-plane') {
    progress.say(`Starting stopped components of the cluster ${record.name} ...`);
    await startRecorded(record, progress);
  } else if (record.size === 'whole' && hasSpace(record)) {
    progress.say(`Starting stopped components of the cluster ${record.name} ...`);
    await startWholeStages(record, progress);
  } else {
    progress.say(`The cluster ${record.name} was ended from outside: removing its remains ...`);
    await takeDown(record.name, progress);
    await startNew(wanted, progress);
  }
}

/**
 * Starts a persistent cluster unless it is running, and waits until it is ready. If the start of a new cluster fails,
 * everything that was created is removed. @throws ClusterError with a remedy
 */
export async function bringUp(wanted: WantedCluster, progress: ProgressReporter): Promise<ClusterState> {
  using _lock = await holdLock(`cluster-${wanted.name}`);
  await removeAbandoned();
  const record = readRecord(wanted.name);
  if (record === undefined) await startNew(wanted, progress);
  else await startRest(record, wanted, progress);
  const state = await clusterState(wanted.name);
  if (state === undefined)
    throw new ClusterError('busy', `The cluster ${wanted.name} was taken down while it was starting.`);
  return state;
}
