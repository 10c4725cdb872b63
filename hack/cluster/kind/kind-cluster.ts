import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { kubeconfigOfCluster } from '../machine/places.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { KindRecord } from '../record/record.ts';

/** Name of the cluster in kind. Its prefix separates it from clusters of other checkouts and purposes. */
export function kindNameOf(record: KindRecord): string {
  return `portcullis-${record.name}`;
}

const nodeOf = (record: KindRecord): string => `${kindNameOf(record)}-control-plane`;

export async function endKind(record: KindRecord): Promise<void> {
  const kubeconfig = ['--kubeconfig', kubeconfigOfCluster(record.name)];
  await runClusterProgram(record.program, ['delete', 'cluster', '--name', kindNameOf(record), ...kubeconfig]);
}

export async function loadKindImage(record: KindRecord, archiveFile: string): Promise<void> {
  await runClusterProgram(record.program, ['load', 'image-archive', archiveFile, '--name', kindNameOf(record)]);
}

export function kindUrlOf(record: KindRecord): string {
  const path = kubeconfigOfCluster(record.name);
  if (!existsSync(path)) return '';
  const config = parse(readFileSync(path, 'utf8')) as { clusters?: { cluster: { server: string } }[] };
  return config.clusters?.[0]?.cluster.server ?? '';
}

type KindNode = { readonly pid: number; readonly since: string; readonly address: string };

/** The running container of the node; undefined when it does not run. */
export async function kindNode(record: KindRecord): Promise<KindNode | undefined> {
  const format = '{{.State.Pid}} {{.State.StartedAt}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  const text = await runClusterProgram('docker', ['inspect', '--format', format, nodeOf(record)]).catch(() => '');
  const [pid = '0', since = '', address = ''] = text.trim().split(' ');
  return Number(pid) === 0 ? undefined : { pid: Number(pid), since, address };
}
