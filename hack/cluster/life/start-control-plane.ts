import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLastingPort, isPortFree } from '../../../cli/supervisor/free-port.ts';
import { buildPrograms } from '../build/build-programs.ts';
import type { KeyPair } from '../certificates/authority.ts';
import { auditLogOf } from '../control-plane/api-server.ts';
import { controlPlaneComponents, identitiesOf, urlOf } from '../control-plane/components.ts';
import { kubeconfigOf, writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { kubectlOk } from '../control-plane/kubectl.ts';
import { pretendedNodes as makeNodes } from '../control-plane/kwok.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import { clusterFolder, kubeconfigOfCluster } from '../machine/places.ts';
import { type ProgressReporter, silentProgress } from '../machine/progress.ts';
import type { Component } from '../process/component.ts';
import { processMark } from '../process/process-identity.ts';
import { startStage } from '../process/start-stage.ts';
import { type AuditLevel, type ControlPlaneRecord, writeRecord } from '../record/record.ts';
import { endStrays } from './end-strays.ts';
import { removeAbandoned, startOrRemove, takeDown } from './take-down.ts';

export type ControlPlaneOptions = {
  /** Name of the control plane; a generated name when absent. */
  readonly name?: string;
  /** Port of the API server; a free port when absent. */
  readonly port?: number;
  /**
   * Whether kube-controller-manager runs: garbage collection by owner references, Deployments, deletion of namespaces.
   */
  readonly controllers?: boolean;
  /**
   * Number of simulated nodes, up to thousands; with nodes, kube-scheduler and kube-controller-manager run, too. 0 when
   * absent.
   */
  readonly pretendedNodes?: number;
  /** Writes an audit log of every request; true means level Metadata. */
  readonly audit?: boolean | AuditLevel;
  /** Additional flags of kube-apiserver; they override the default flags. */
  readonly apiServerFlags?: readonly string[];
  /**
   * Whether the control plane keeps running after the process that starts it; otherwise it always ends with that
   * process.
   */
  readonly lasting?: boolean;
  /**
   * The process that owns the control plane, if it is not this process; `removeAbandoned` stops the control plane after
   * its owner has exited.
   */
  readonly ownerPid?: number;
  readonly progress?: ProgressReporter;
};

/** A running control plane. Disposing it stops its processes and removes all its files. */
export type ControlPlane = AsyncDisposable & {
  readonly name: string;
  /** Origin of the API server, with https. */
  readonly url: string;
  readonly caFile: string;
  /** Client certificate of a user in the group system:masters. */
  readonly kubeconfigFile: string;
  readonly adminCertificateFile: string;
  readonly adminKeyFile: string;
  /** Entries of the audit log, one JSON object per line; empty without `audit`. */
  readonly auditLogFile: string;
  readonly apiServer: Component;
  readonly etcd: Component;
  /** Issues a client certificate for the named user in the named groups. */
  readonly issueClient: (user: string, groups?: readonly string[]) => KeyPair;
  /** Writes a kubeconfig for a user in groups. @returns its path */
  readonly kubeconfigFor: (user: string, groups?: readonly string[]) => string;
  /** Stops the API server, if it runs, and starts it again on the same port. */
  readonly restartApiServer: () => Promise<void>;
  /** Kills the API server, as a crash does, and does not restart it. */
  readonly killApiServer: () => Promise<void>;
  /** Restarts etcd with its data; the API server keeps running. */
  readonly restartEtcd: () => Promise<void>;
};

async function portsFor(wanted: number | undefined): Promise<ControlPlaneRecord['ports']> {
  if (wanted !== undefined && !(await isPortFree(wanted))) {
    throw new ClusterError('port-in-use', `The port ${wanted} is in use: name another one or leave the choice open.`);
  }
  const ports = new Set<number>(wanted === undefined ? [] : [wanted]);
  while (ports.size < 6) ports.add(await findLastingPort());
  const [apiServer = 0, etcd = 0, etcdPeer = 0, controllerManager = 0, scheduler = 0, kwok = 0] = ports;
  return { apiServer, etcd, etcdPeer, controllerManager, scheduler, kwok };
}

/** Programs that only simulated nodes need are not built if there are no simulated nodes. */
const noPrograms = { 'kube-scheduler': '', kwok: '' };

function programsFor(pretendedNodes: number) {
  const always = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
  return pretendedNodes > 0 ? ([...always, 'kube-scheduler', 'kwok'] as const) : always;
}

async function recordFor(options: ControlPlaneOptions, progress: ProgressReporter): Promise<ControlPlaneRecord> {
  const { audit = false, lasting = false, pretendedNodes = 0 } = options;
  const owner = lasting ? undefined : processMark(options.ownerPid ?? process.pid);
  return {
    size: 'control-plane',
    name: options.name ?? `test-${randomBytes(6).toString('hex')}`,
    startedAt: new Date().toISOString(),
    programs: { ...noPrograms, ...(await buildPrograms(programsFor(pretendedNodes), progress)) },
    ports: await portsFor(options.port),
    controllers: options.controllers ?? false,
    pretendedNodes,
    audit: audit === true ? 'Metadata' : audit || null,
    apiServerFlags: options.apiServerFlags ?? [],
    owner: owner ?? null,
  };
}

/** Starts the stopped components of a recorded control plane, one after another. */
export async function startRecorded(record: ControlPlaneRecord, progress: ProgressReporter): Promise<void> {
  await endStrays(record);
  const { name } = record;
  writeKubeconfig(kubeconfigOfCluster(name), { name, url: urlOf(record), user: 'admin' }, identitiesOf(record).admin);
  for (const one of controlPlaneComponents(record)) await startStage([one], progress);
  if (record.pretendedNodes === 0) return;
  const nodes = JSON.stringify(makeNodes(record.pretendedNodes));
  await progress.step('pretended nodes', () =>
    kubectlOk(kubeconfigOfCluster(record.name), ['apply', '--filename=-'], nodes),
  );
}

/** The control plane of a cluster record, running or not. */
export function openControlPlane(record: ControlPlaneRecord): ControlPlane {
  const folder = clusterFolder(record.name);
  const identities = identitiesOf(record);
  const [etcd, apiServer] = controlPlaneComponents(record);
  if (etcd === undefined || apiServer === undefined)
    throw new Error('a control plane always has etcd and kube-apiserver');
  const url = urlOf(record);
  const issueClient = (user: string, groups: readonly string[] = []): KeyPair =>
    identities.issueClient({ commonName: user, organizations: groups });
  return {
    name: record.name,
    url,
    caFile: identities.caFile,
    kubeconfigFile: kubeconfigOfCluster(record.name),
    adminCertificateFile: identities.admin.certificateFile,
    adminKeyFile: identities.admin.keyFile,
    auditLogFile: auditLogOf(folder),
    apiServer,
    etcd,
    issueClient,
    kubeconfigFor: (user, groups) => {
      const path = join(folder, `user-${randomBytes(6).toString('hex')}.kubeconfig`);
      const authority = readFileSync(identities.caFile, 'utf8');
      const client = issueClient(user, groups);
      writeFileSync(path, kubeconfigOf({ name: record.name, url, user, authority, client }), { mode: 0o600 });
      return path;
    },
    restartApiServer: async () => {
      await apiServer.stop(0);
      await apiServer.start();
    },
    killApiServer: () => apiServer.stop(0),
    restartEtcd: async () => {
      await etcd.stop();
      await etcd.start();
    },
    [Symbol.asyncDispose]: () => takeDown(record.name),
  };
}

/**
 * Starts etcd and kube-apiserver on free ports of the loopback interface, and waits until they are ready. Any number of
 * control planes can run side by side. @throws ClusterError when a program is missing or does not start
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const progress = options.progress ?? silentProgress;
  await removeAbandoned();
  const record = await recordFor(options, progress);
  writeRecord(record);
  const controlPlane = openControlPlane(record);
  return startOrRemove(record.name, async () => {
    writeFileSync(controlPlane.auditLogFile, '');
    await startRecorded(record, progress);
    return controlPlane;
  });
}
