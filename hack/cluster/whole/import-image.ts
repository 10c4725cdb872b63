import { clusterFolder } from '../places.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { WholeRecord } from '../record.ts';
import { containerdSocket } from './containerd.ts';

/** Gives the images of an archive to the node. @throws ClusterError when containerd does not take it */
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
