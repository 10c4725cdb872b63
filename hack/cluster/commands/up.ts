import { type Command, InvalidArgumentError } from 'commander';
import { ClusterError } from '../cluster-error.ts';
import type { AuditLevel } from '../control-plane/api-server.ts';
import { type ControlPlaneOptions, startControlPlane, startRecorded } from '../control-plane.ts';
import { dockerRuns } from '../kind/docker.ts';
import { startKind } from '../kind/start-kind.ts';
import { holdLock } from '../lock.ts';
import { type Progress, progressOn } from '../progress.ts';
import { type ClusterRecord, readRecord } from '../record.ts';
import { clusterState } from '../status.ts';
import { takeDown } from '../take-down.ts';
import { spaceOf } from '../whole/components.ts';
import { startWhole, startWholeStages } from '../whole/start-whole.ts';
import { withName } from './cluster-options.ts';

type UpOptions = {
  readonly name: string;
  readonly controlPlane?: boolean;
  readonly local?: boolean;
  readonly controllers?: boolean;
  readonly audit?: AuditLevel | true;
  readonly port?: number;
  readonly apiServerFlag?: readonly string[];
};

export function addUp(program: Command): void {
  withName(program.command('up'))
    .description('start a cluster and wait until it serves; start what has ended of one that runs')
    .option('--control-plane', 'only etcd and kube-apiserver')
    .option('--local', 'a whole cluster from programs of this machine, even where Docker runs')
    .option('--controllers', 'with --control-plane: kube-controller-manager, too')
    .option('--audit [level]', 'write down every request: Metadata or RequestResponse', auditLevel)
    .option('--port <n>', 'with --control-plane: port of the API server (default: a free one)', port)
    .option('--api-server-flag <flag...>', 'with --control-plane: a flag of kube-apiserver')
    .action(up);
}

function auditLevel(given: string): AuditLevel {
  if (given === 'Metadata' || given === 'RequestResponse') return given;
  throw new InvalidArgumentError('Choose Metadata or RequestResponse.');
}

function port(given: string): number {
  const value = Number(given);
  if (Number.isInteger(value) && value >= 1 && value <= 65_535) return value;
  throw new InvalidArgumentError('Give a whole number from 1 to 65535.');
}

async function up(options: UpOptions): Promise<void> {
  const progress = progressOn(process.stderr);
  using _lock = await holdLock(`cluster-${options.name}`);
  const record = readRecord(options.name);
  if (record === undefined) await startNew(options, progress);
  else await startRest(record, options, progress);
  const state = await clusterState(options.name);
  progress.say(`Cluster ${options.name} serves at ${state?.url}; KUBECONFIG=${state?.kubeconfig}`);
}

async function startNew(options: UpOptions, progress: Progress): Promise<void> {
  progress.say(`Starting the cluster ${options.name} ...`);
  const { name, controllers = false, audit = false, apiServerFlag: apiServerFlags = [] } = options;
  if (options.controlPlane !== true) {
    await startWithNode(options, progress);
    return;
  }
  const wanted: ControlPlaneOptions = { name, controllers, audit, apiServerFlags, lasting: true, progress };
  await startControlPlane(options.port === undefined ? wanted : { ...wanted, port: options.port });
}

/** In Docker where it runs, for the whole cluster is then one container; flags of the API server are ours to set only. */
async function startWithNode(options: UpOptions, progress: Progress): Promise<void> {
  const { name, audit = false, apiServerFlag: apiServerFlags = [] } = options;
  const plain = audit === false && apiServerFlags.length === 0;
  if (options.local !== true && plain && (await dockerRuns())) await startKind(name, progress);
  else await startWhole({ name, audit: audit === true ? 'Metadata' : audit || null, apiServerFlags }, progress);
}

/** What has ended of a cluster is started again; of a whole one whose machine was started again nothing can be used. */
async function startRest(record: ClusterRecord, options: UpOptions, progress: Progress): Promise<void> {
  if (record.owner !== null) {
    throw new ClusterError('usage', `${record.name} belongs to a test that runs: choose another name.`);
  }
  const { components } = (await clusterState(record.name)) ?? { components: [] };
  if (components.every(({ state }) => state === 'ready')) {
    progress.say(`The cluster ${record.name} runs already, with the options that it was started with.`);
    return;
  }
  if (record.size === 'control-plane') {
    progress.say(`Starting what has ended of the cluster ${record.name} ...`);
    await startRecorded(record, progress);
  } else if (record.size === 'whole' && spaceOf(record).component.running() !== undefined) {
    progress.say(`Starting what has ended of the cluster ${record.name} ...`);
    await startWholeStages(record, progress);
  } else {
    progress.say(`The cluster ${record.name} was ended from outside: removing what is left of it ...`);
    await takeDown(record.name, progress);
    await startNew(options, progress);
  }
}
