import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { AgentVersion } from '#resources/agent-version';
import type { Stored } from '#resources/metadata';
import { silentProgress } from '../../hack/cluster/machine/progress.ts';
import { applyUntilReady } from '../agent-versions/measure-versions.ts';
import { createTimetable } from '../chart/timetable.ts';
import { openServicesCluster, type ServicesCluster } from './open-services-cluster.ts';

type NodeReport = {
  /** Seconds of each version that was applied alone. */
  readonly one: readonly number[];
  /** Seconds until the last of twenty was Ready. */
  readonly twenty: number;
  /** How long each single version took until it was ready, by step. */
  readonly phases: readonly string[];
};

const singles = 3;

/** Applies versions to the chart on a node of this machine, whose pods run containers. */
export async function runOnNode(say: (progress: string) => void): Promise<NodeReport> {
  await using cluster = await openServicesCluster(createTimetable(), silentProgress, false);
  say('the chart is installed');
  const at = {
    client: cluster.client,
    apply: (text: string) => cluster.kubectl(['apply', '--filename=-'], text),
  };
  const one: number[] = [];
  const phases: string[] = [];
  for (let turn = 1; turn <= singles; turn += 1) {
    const { seconds, versions } = await applyUntilReady(at, [`one-${turn}`]);
    one.push(seconds);
    phases.push(await phasesOf(cluster, versions[0]));
  }
  const names = Array.from({ length: 20 }, (_, index) => `of-twenty-${index + 1}`);
  const { seconds: twenty } = await applyUntilReady(at, names);
  return { one, twenty, phases };
}

/** Times of a version as the API server has them, in seconds after its creation. */
async function phasesOf({ client }: ServicesCluster, version: Stored<AgentVersion> | undefined): Promise<string> {
  if (version === undefined) return '';
  const label = `portcullis.dev/agent-workload=${version.status?.workload}`;
  const [pod] = (await client.list<Pod>(builtinKinds.pod, { labelSelector: label })).items;
  const begun = Date.parse(version.metadata.creationTimestamp);
  const after = (time: string | undefined) => (time === undefined ? '?' : (Date.parse(time) - begun) / 1_000);
  const timeOf = (type: string) => pod?.status?.conditions?.find((one) => one.type === type)?.lastTransitionTime;
  const ready = version.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  return (
    `${version.metadata.name}: pod created after ${after(pod?.metadata.creationTimestamp)} s, ` +
    `scheduled ${after(timeOf('PodScheduled'))} s, ready ${after(timeOf('Ready'))} s; version ready ${after(ready)} s`
  );
}
