import { clusterFolder } from '../machine/places.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { WholeRecord } from '../record/record.ts';
import { containerdSocket } from './containerd.ts';

/** Imports the images of an archive into containerd of the node. @throws ClusterError when containerd refuses them */
export async function importImage(record: WholeRecord, archiveFile: string): Promise<void> {
  const socket = containerdSocket(clusterFolder(record.name));
  await runClusterProgram(record.system.ctr, [
    `--address=${socket}`,
    '--namespace=k8s.io',
    'images',
    'import',
    archiveFile,
  ]);
}
