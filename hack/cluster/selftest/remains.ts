import { existsSync } from 'node:fs';
import { processTable } from '#kit/testing/process-table';
import { clusterFolder } from '../machine/places.ts';

/** Command lines of running processes that contain the path of a cluster's folder. */
export function processesOf(name: string): readonly string[] {
  const folder = `${clusterFolder(name)}/`;
  return processTable()
    .filter(({ command, pid }) => command.includes(folder) && pid !== process.pid)
    .map(({ command }) => command);
}

/** The remains of a cluster: its processes and its folder. */
export function remainsOf(name: string): readonly string[] {
  const folder = clusterFolder(name);
  return [...processesOf(name), ...(existsSync(folder) ? [folder] : [])];
}
