import { homedir } from 'node:os';
import { join } from 'node:path';
import { ClusterError } from './cluster-error.ts';

function baseFolder(variable: string, ...fallback: readonly string[]): string {
  const given = process.env[variable];
  return given !== undefined && given !== '' ? given : join(homedir(), ...fallback);
}

/**
 * Folder of built programs and downloaded packages. It is kept when clusters are removed, and may be deleted at any
 * time when no cluster is starting.
 */
export function cacheFolder(): string {
  return join(baseFolder('XDG_CACHE_HOME', '.cache'), 'portcullis', 'cluster');
}

/** Folder with one subfolder for each cluster that was started and not taken down. */
export function clustersFolder(): string {
  return join(baseFolder('XDG_STATE_HOME', '.local', 'state'), 'portcullis', 'clusters');
}

/**
 * The form of a cluster name, which is a folder name and part of a host name, and must be short enough for the paths of
 * sockets in the folder.
 */
const clusterName = /^[a-z][a-z0-9-]{0,29}$/;

/** The folder that holds all files of one cluster. */
export function clusterFolder(name: string): string {
  if (!clusterName.test(name)) {
    throw new ClusterError(
      'usage',
      `'${name}' cannot be the name of a cluster: use at most 30 lower-case letters, digits and dashes, a letter first.`,
    );
  }
  return join(clustersFolder(), name);
}

/** The kubeconfig of the cluster's administrator. */
export function kubeconfigOfCluster(name: string): string {
  return join(clusterFolder(name), 'kubeconfig');
}
