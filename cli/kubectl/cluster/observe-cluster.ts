import type { OperatorView, ProcessView, Surroundings } from '#diagnosis/surroundings';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { CoreEvent, Deployment, PersistentVolumeClaim, Pod, StatefulSet } from '#kube/client/builtin-types';
import type { KubeClient, ListOptions } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { listAll } from '#kube/client/list-all';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import {
  allowed,
  componentOf,
  type FoundLease,
  installationSelector,
  operatorLease,
  ourPods,
} from '../../cluster/installation-objects.ts';
import { type ClusterObjects, clusterProblems, isFrozen } from './cluster-problems.ts';

/** Clock skew that is tolerated before a lease counts as expired, milliseconds. */
const clockToleranceMs = 15_000;

/** The processes of the namespace. Objects that the caller is not allowed to read are reported as unknown. */
export async function observeCluster(client: KubeClient, now: Date): Promise<Surroundings> {
  const pods = await allowed(() => ourPods(client));
  const lease = await allowed(() => operatorLease(client));
  const objects = await objectsOf(client, pods ?? []);
  const viewsOf = (component: string, of: readonly Stored<Pod>[]): readonly ProcessView[] =>
    of.filter((pod) => componentOf(pod) === component).map((pod) => viewOfPod(pod, objects.events));
  const gateways = pods === undefined ? undefined : viewsOf('gateway', pods);
  const operator = { ...operatorView(lease, client.namespace, now), replicas: viewsOf('operator', pods ?? []) };
  const problems = clusterProblems(objects);
  return gateways === undefined ? { operator, problems } : { operator, gateways, problems };
}

/** Objects that explain why a process does not run; objects that the caller is not allowed to read are left out. */
async function objectsOf(client: KubeClient, pods: readonly Stored<Pod>[]): Promise<ClusterObjects> {
  const ours = { labelSelector: installationSelector };
  const read = async <T extends KubeObject>(kind: Kind, options: ListOptions = {}): Promise<readonly Stored<T>[]> =>
    (await allowed(() => listAll<T>(client, kind, options)))?.items ?? [];
  const [deployments, statefulSets, claims, events] = await Promise.all([
    read<Deployment>(builtinKinds.deployment, ours),
    read<StatefulSet>(builtinKinds.statefulSet, ours),
    read<PersistentVolumeClaim>(builtinKinds.persistentVolumeClaim),
    read<Stored<CoreEvent> & KubeObject>(builtinKinds.coreEvent, { fieldSelector: 'type=Warning' }),
  ]);
  return { pods, deployments, statefulSets, claims, events };
}

function operatorView(found: FoundLease | undefined, namespace: string, now: Date): Omit<OperatorView, 'replicas'> {
  if (found === undefined) return { state: 'unknown', message: 'unknown, because you are not allowed to read leases.' };
  const { name, lease } = found;
  if (lease === undefined)
    return {
      state: 'absent',
      message: `no operator has run in the namespace ${namespace}: there is no lease ${name}.`,
    };
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease.spec;
  if (holderIdentity === '')
    return { state: 'absent', lease: name, message: `no operator is the leader: the lease ${name} has no holder.` };
  const holder = holderOf(holderIdentity);
  const since = now.getTime() - Date.parse(renewTime ?? '');
  if (!(since <= leaseDurationSeconds * 1_000 + clockToleranceMs)) {
    const message = `no operator is the leader: ${holder} has not renewed the lease ${name} since ${renewTime ?? 'its creation'}.`;
    return { state: 'absent', lease: name, holder, message };
  }
  return { state: 'leading', lease: name, holder, message: `${holder} is the leader and holds the lease ${name}.` };
}

/** The name of the pod: an identity has a suffix for the process after its last underscore. */
function holderOf(identity: string): string {
  return identity.replace(/_[^_]*$/, '');
}

function viewOfPod(pod: Stored<Pod>, events: ClusterObjects['events']): ProcessView {
  const { metadata, status } = pod;
  const { name } = metadata;
  const containers = status?.containerStatuses ?? [];
  const ready = containers.length > 0 && containers.every((container) => container.ready);
  if (metadata.deletionTimestamp !== undefined) return { name, ready: false, problem: 'it is terminating' };
  if (ready) return { name, ready };
  if (isFrozen(pod, events)) return { name, ready, answering: false, problem: 'it is not answering' };
  const waiting = containers.map(({ state }) => state?.waiting).find((found) => found?.reason !== undefined);
  const unscheduled = status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  const [reason, text] = [waiting?.reason ?? unscheduled?.reason, waiting?.message ?? unscheduled?.message];
  if (reason === undefined) return { name, ready, problem: 'it is not ready yet' };
  return { name, ready, problem: text === undefined ? reason : `${reason}: ${text}` };
}
