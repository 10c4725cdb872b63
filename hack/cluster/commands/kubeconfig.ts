import { dirname } from 'node:path';
import type { Command } from 'commander';
import { writeText } from '../../../cli/output/write.ts';
import { buildPrograms } from '../build/build-programs.ts';
import { kubeconfigOfCluster } from '../machine/places.ts';
import { progressOn } from '../machine/progress.ts';
import { recordOf, withName } from './cluster-options.ts';

type NameOption = { readonly name: string };

const kubeconfigOf = (name: string): string => kubeconfigOfCluster(recordOf(name).name);

export function addKubeconfig(program: Command): void {
  withName(program.command('kubeconfig'))
    .description('print the path of the kubeconfig of a cluster')
    .action(({ name }: NameOption) => writeText(kubeconfigOf(name)));
  withName(program.command('env'))
    .description('print shell commands that set KUBECONFIG and a PATH with kubectl and helm for a cluster')
    .action(printEnvironment);
}

async function printEnvironment({ name }: NameOption): Promise<void> {
  const kubeconfig = kubeconfigOf(name);
  const { kubectl, helm } = await buildPrograms(['kubectl', 'helm'], progressOn(process.stderr));
  writeText(`export KUBECONFIG='${kubeconfig}' PATH='${dirname(kubectl)}:${dirname(helm)}':"$PATH"`);
}
