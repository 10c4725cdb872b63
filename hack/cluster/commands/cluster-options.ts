import type { Command } from 'commander';
import { ClusterError } from '../machine/cluster-error.ts';
import { type ClusterRecord, clusterNames, readRecord } from '../record/record.ts';

const defaultName = 'local';

export function withName(command: Command): Command {
  return command.option('--name <name>', 'name of the cluster', defaultName);
}

/** The record of the cluster of a command. @throws ClusterError if it does not exist */
export function recordOf(name: string): ClusterRecord {
  const record = readRecord(name);
  if (record !== undefined) return record;
  const others = clusterNames();
  const known = others.length === 0 ? '' : `; there is ${others.join(', ')}`;
  throw new ClusterError('not-found', `There is no cluster ${name}${known}: start it with 'npm run cluster up'.`);
}
