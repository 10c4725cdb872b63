import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterFolder, clustersFolder } from '../machine/places.ts';
import type { ProcessMark } from '../process/process-identity.ts';

/** Detail of the audit log for each request: metadata only, or also request and response bodies. */
export type AuditLevel = 'Metadata' | 'RequestResponse';

/** Paths of the programs of this machine that a cluster with a node uses. */
export type SystemPrograms = Readonly<
  Record<'unshare' | 'nsenter' | 'mount' | 'ip' | 'containerd' | 'ctr' | 'runc' | 'iptables', string>
> & { readonly cniFolder: string };

/** etcd and an API server on loopback ports; the built-in controllers on request. */
export type ControlPlaneRecord = {
  readonly size: 'control-plane';
  readonly name: string;
  readonly startedAt: string;
  readonly programs: Readonly<
    Record<'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok', string>
  >;
  readonly ports: {
    readonly etcd: number;
    readonly etcdPeer: number;
    readonly apiServer: number;
    readonly controllerManager: number;
    readonly scheduler: number;
    readonly kwok: number;
  };
  readonly controllers: boolean;
  /** Simulated nodes, which run no pods but report that they do; the scheduler and the controllers run with them. */
  readonly pretendedNodes: number;
  readonly audit: AuditLevel | null;
  readonly apiServerFlags: readonly string[];
  /** The process that owns the control plane: after its exit, the control plane is not needed. */
  readonly owner: ProcessMark | null;
};

/** A cluster with a node, in separate Linux namespaces on this machine. */
export type WholeRecord = {
  readonly size: 'whole';
  readonly name: string;
  readonly startedAt: string;
  readonly system: SystemPrograms;
  readonly programs: Readonly<
    Record<
      | 'etcd'
      | 'kube-apiserver'
      | 'kube-controller-manager'
      | 'kube-scheduler'
      | 'kubelet'
      | 'kube-proxy'
      | 'coredns'
      | 'local-volumes',
      string
    >
  >;
  readonly pause: { readonly program: string; readonly archiveFile: string };
  /** Number of the cluster on this machine, which determines its addresses. */
  readonly slot: number;
  readonly audit: AuditLevel | null;
  readonly apiServerFlags: readonly string[];
  readonly owner: null;
};

/** A cluster that kind runs in a container. */
export type KindRecord = {
  readonly size: 'kind';
  readonly name: string;
  readonly startedAt: string;
  readonly program: string;
  readonly owner: null;
};

export type ClusterRecord = ControlPlaneRecord | WholeRecord | KindRecord;

const recordFile = (name: string): string => join(clusterFolder(name), 'cluster.json');

/** The record of the cluster with a name; undefined if no cluster was started under it. */
export function readRecord(name: string): ClusterRecord | undefined {
  const path = recordFile(name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ClusterRecord) : undefined;
}

/** The record file is complete or absent. */
export function writeRecord(record: ClusterRecord): void {
  const path = recordFile(record.name);
  mkdirSync(clusterFolder(record.name), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${JSON.stringify(record, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** Names of all clusters that were started and not taken down, sorted. */
export function clusterNames(): readonly string[] {
  if (!existsSync(clustersFolder())) return [];
  return readdirSync(clustersFolder(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
