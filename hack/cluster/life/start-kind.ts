import { buildPrograms } from '../build/build-programs.ts';
import { kindNameOf } from '../kind/kind-cluster.ts';
import { kubeconfigOfCluster } from '../machine/places.ts';
import type { ProgressReporter } from '../machine/progress.ts';
import { runClusterProgram } from '../process/run-program.ts';
import { type KindRecord, writeRecord } from '../record/record.ts';
import { startOrRemove } from './take-down.ts';

/** Starts a cluster in a container and waits until its node accepts pods. */
export async function startKind(name: string, progress: ProgressReporter): Promise<KindRecord> {
  const { kind } = await buildPrograms(['kind', 'kubectl'], progress);
  const record: KindRecord = { size: 'kind', name, startedAt: new Date().toISOString(), program: kind, owner: null };
  writeRecord(record);
  const kubeconfig = ['--kubeconfig', kubeconfigOfCluster(name)];
  const args = ['create', 'cluster', '--name', kindNameOf(record), '--wait', '5m', ...kubeconfig];
  await startOrRemove(name, () => progress.step('kind create cluster', () => runClusterProgram(kind, args)));
  return record;
}
