import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from '../../../cli/options/whole-number.ts';
import { bringUp } from '../life/bring-up.ts';
import { progressOn } from '../machine/progress.ts';
import type { AuditLevel } from '../record/record.ts';
import { withName } from './cluster-options.ts';

type UpOptions = {
  readonly name: string;
  readonly controlPlane?: boolean;
  readonly local?: boolean;
  readonly controllers?: boolean;
  readonly audit?: AuditLevel | true;
  readonly pretendedNodes?: number;
  readonly port?: number;
  readonly apiServerFlag?: readonly string[];
};

export function addClusterUp(program: Command): void {
  withName(program.command('up'))
    .description('start a cluster, or stopped components of a running one, and wait until it is ready')
    .option('--control-plane', 'only etcd and kube-apiserver')
    .option('--local', 'a whole cluster from programs of this machine, even where Docker runs')
    .option('--controllers', 'with --control-plane: kube-controller-manager, too')
    .option('--pretended-nodes <n>', 'with --control-plane: number of simulated nodes', wholeNumber(1, 1_000))
    .option('--port <n>', 'with --control-plane: port of the API server (default: a free one)', wholeNumber(1, 65_535))
    .option(
      '--audit [level]',
      'log every request to the API server: Metadata (default) or RequestResponse; not in Docker',
      auditLevel,
    )
    .option('--api-server-flag <flag...>', 'a flag of kube-apiserver, as in --api-server-flag=--v=4; not in Docker')
    .action(up);
}

function auditLevel(given: string): AuditLevel {
  if (given === 'Metadata' || given === 'RequestResponse') return given;
  throw new InvalidArgumentError('Unknown level of the audit log: choose Metadata or RequestResponse.');
}

async function up(options: UpOptions): Promise<void> {
  const progress = progressOn(process.stderr);
  const { url, kubeconfig } = await bringUp(
    {
      name: options.name,
      node: options.controlPlane === true ? 'none' : options.local === true ? 'local' : 'any',
      controllers: options.controllers === true,
      pretendedNodes: options.pretendedNodes,
      audit: options.audit === true ? 'Metadata' : options.audit,
      port: options.port,
      apiServerFlags: options.apiServerFlag ?? [],
    },
    progress,
  );
  progress.say(`The cluster ${options.name} is ready at ${url}; KUBECONFIG=${kubeconfig}`);
}
