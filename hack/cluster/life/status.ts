import { lastLines } from '#kit/process/child-log';
import { urlOf } from '../control-plane/components.ts';
import { kubectl } from '../control-plane/kubectl.ts';
import { kindNode, kindUrlOf } from '../kind/kind-cluster.ts';
import { clusterFolder, kubeconfigOfCluster } from '../machine/places.ts';
import type { Component } from '../process/component.ts';
import { isAtWork } from '../process/process-identity.ts';
import { type ClusterRecord, clusterNames, type KindRecord, readRecord } from '../record/record.ts';
import { addressesOf } from '../whole/addresses.ts';
import { wholeUrlOf } from '../whole/components.ts';
import { clusterComponents } from './cluster-components.ts';

export type ComponentState = {
  readonly name: string;
  readonly state: 'ready' | 'not ready' | 'ended';
  readonly pid: number | null;
  readonly since: string | null;
  /** The last line of the component's log; absent when the component is ready. */
  readonly lastLine: string | null;
};

export type ClusterState = {
  readonly name: string;
  readonly size: string;
  /** Whether every component of the cluster is ready. */
  readonly ready: boolean;
  /** False when the control plane belonged to a process that has exited. */
  readonly wanted: boolean;
  readonly url: string;
  /** Address for node ports; null when the cluster has no node. */
  readonly nodeAddress: string | null;
  /** Address of this machine for pods; null when the cluster has no node. */
  readonly machineAddress: string | null;
  readonly folder: string;
  readonly kubeconfig: string;
  readonly components: readonly ComponentState[];
};

async function stateOf(one: Component): Promise<ComponentState> {
  const mark = one.running();
  const ready = mark !== undefined && (await one.isReady().catch(() => false));
  return {
    name: one.name,
    state: ready ? 'ready' : mark === undefined ? 'ended' : 'not ready',
    pid: mark?.pid ?? null,
    since: mark?.since.toISOString() ?? null,
    lastLine: ready ? null : (lastLines(one.logFile).at(-1) ?? null),
  };
}

type Facts = Pick<ClusterState, 'url' | 'nodeAddress' | 'machineAddress' | 'components'>;

async function kindFacts(record: KindRecord): Promise<Facts> {
  const node = await kindNode(record);
  const url = kindUrlOf(record);
  const ready = node !== undefined && (await isReadyByKubectl(record.name));
  const component: ComponentState = {
    name: 'node',
    state: ready ? 'ready' : node === undefined ? 'ended' : 'not ready',
    pid: node?.pid ?? null,
    since: node?.since ?? null,
    lastLine: null,
  };
  return { url, nodeAddress: node?.address ?? null, machineAddress: null, components: [component] };
}

async function isReadyByKubectl(name: string): Promise<boolean> {
  return (await kubectl(kubeconfigOfCluster(name), ['get', '--raw', '/readyz'])).code === 0;
}

async function factsOf(record: ClusterRecord): Promise<Facts> {
  if (record.size === 'kind') return kindFacts(record);
  const components = await Promise.all(clusterComponents(record).map(stateOf));
  if (record.size === 'control-plane') {
    return { url: urlOf(record), nodeAddress: null, machineAddress: null, components };
  }
  const { node, machine } = addressesOf(record.slot);
  return { url: wholeUrlOf(record), nodeAddress: node, machineAddress: machine, components };
}

/** The current state of one cluster; undefined if no cluster with this name was started. */
export async function clusterState(name: string): Promise<ClusterState | undefined> {
  const record = readRecord(name);
  if (record === undefined) return undefined;
  const facts = await factsOf(record);
  return {
    name,
    size: record.size,
    ready: facts.components.every(({ state }) => state === 'ready'),
    wanted: record.owner === null || isAtWork(record.owner),
    folder: clusterFolder(name),
    kubeconfig: kubeconfigOfCluster(name),
    ...facts,
  };
}

/** The states of all clusters of this user. */
export async function clusterStates(): Promise<readonly ClusterState[]> {
  const states = await Promise.all(clusterNames().map(clusterState));
  return states.filter((state) => state !== undefined);
}
