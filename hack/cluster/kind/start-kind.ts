import { buildPrograms } from '../build/build-programs.ts';
import { kubeconfigOfCluster } from '../places.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { ProgressReporter } from '../progress.ts';
import { type KindRecord, writeRecord } from '../record.ts';
import { startOrRemove } from '../take-down.ts';
import { kindNameOf } from './kind-cluster.ts';

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
