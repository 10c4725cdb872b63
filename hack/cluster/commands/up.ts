import { type Command, InvalidArgumentError } from 'commander';
import { ClusterError } from '../cluster-error.ts';
import type { AuditLevel } from '../control-plane/api-server.ts';
import { controlPlaneComponents } from '../control-plane/components.ts';
import { type ControlPlaneOptions, startComponents, startControlPlane } from '../control-plane.ts';
import { holdLock } from '../lock.ts';
import { type Progress, progressOn } from '../progress.ts';
import { type ControlPlaneRecord, readRecord } from '../record.ts';
import { clusterState } from '../status.ts';
import { withName } from './cluster-options.ts';

type UpOptions = {
  readonly name: string;
  readonly controlPlane?: boolean;
  readonly controllers?: boolean;
  readonly audit?: AuditLevel | true;
  readonly port?: number;
  readonly apiServerFlag?: readonly string[];
};

export function addUp(program: Command): void {
  withName(program.command('up'))
    .description('start a cluster and wait until it serves; start what has ended of one that runs')
    .option('--control-plane', 'only etcd and kube-apiserver')
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
  else await startRest(record, progress);
  const state = await clusterState(options.name);
  progress.say(`Cluster ${options.name} serves at ${state?.url}; KUBECONFIG=${state?.kubeconfig}`);
}

async function startNew(options: UpOptions, progress: Progress): Promise<void> {
  progress.say(`Starting the cluster ${options.name} ...`);
  const { name, controllers = false, audit = false, apiServerFlag = [] } = options;
  const wanted: ControlPlaneOptions = {
    name,
    controllers,
    audit,
    apiServerFlags: apiServerFlag,
    lasting: true,
    progress,
  };
  await startControlPlane(options.port === undefined ? wanted : { ...wanted, port: options.port });
}

async function startRest(record: ControlPlaneRecord, progress: Progress): Promise<void> {
  if (record.owner !== null) {
    throw new ClusterError('usage', `${record.name} belongs to a test that runs: choose another name.`);
  }
  const { components } = (await clusterState(record.name)) ?? { components: [] };
  if (components.every(({ state }) => state === 'ready')) {
    progress.say(`The cluster ${record.name} runs already, with the options that it was started with.`);
    return;
  }
  progress.say(`Starting what has ended of the cluster ${record.name} ...`);
  await startComponents(controlPlaneComponents(record), progress);
}
