import { controlPlaneComponents, urlOf } from './control-plane/components.ts';
import { clusterFolder } from './places.ts';
import type { Component } from './process/component.ts';
import { logTail } from './process/log-tail.ts';
import { isRunning } from './process/process-identity.ts';
import { clusterNames, readRecord } from './record.ts';

export type ComponentState = {
  readonly name: string;
  readonly state: 'ready' | 'not ready' | 'ended';
  readonly pid: number | null;
  readonly since: string | null;
  /** The last line of its log, unless it is ready. */
  readonly lastLine: string | null;
};

export type ClusterState = {
  readonly name: string;
  readonly size: string;
  /** Whether every component is ready. */
  readonly ready: boolean;
  /** False when it belonged to a process that has ended. */
  readonly wanted: boolean;
  readonly url: string;
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
    lastLine: ready ? null : (logTail(one.logFile, 1)[0] ?? null),
  };
}

/** What holds now of one cluster; undefined when nothing was started under the name. */
export async function clusterState(name: string): Promise<ClusterState | undefined> {
  const record = readRecord(name);
  if (record === undefined) return undefined;
  const components = await Promise.all(controlPlaneComponents(record).map(stateOf));
  return {
    name,
    size: record.size,
    ready: components.every(({ state }) => state === 'ready'),
    wanted: record.owner === null || isRunning(record.owner),
    url: urlOf(record),
    folder: clusterFolder(name),
    kubeconfig: `${clusterFolder(name)}/kubeconfig`,
    components,
  };
}

/** The states of all clusters of this user. */
export async function clusterStates(): Promise<readonly ClusterState[]> {
  const states = await Promise.all(clusterNames().map(clusterState));
  return states.filter((state) => state !== undefined);
}
