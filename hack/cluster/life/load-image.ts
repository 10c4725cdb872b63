import { loadKindImage } from '../kind/kind-cluster.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import type { ClusterRecord } from '../record/record.ts';
import { importImage } from '../whole/import-image.ts';

/** Loads the images of an archive onto the node of a cluster. @throws ClusterError when the cluster has no node */
export async function loadImage(record: ClusterRecord, archiveFile: string): Promise<void> {
  switch (record.size) {
    case 'control-plane':
      throw new ClusterError('usage', `${record.name} is a control plane without a node that could run an image.`);
    case 'whole':
      return importImage(record, archiveFile);
    case 'kind':
      return loadKindImage(record, archiveFile);
  }
}
