import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Deployment, Lease, Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import type { Stored } from '#resources/metadata';
import type { OperatorView, ProcessView, Surroundings } from '../../resources/resource-source.ts';

const partOf = 'app.kubernetes.io/part-of=portcullis';
const componentLabel = 'app.kubernetes.io/component';
const leaseVariable = 'PORTCULLIS_LEASE_NAME';
const defaultLease = 'portcullis-operator';
/** How much clocks may differ before a lease that is renewed seems to have expired. */
const clockToleranceMs = 15_000;

/** What runs in the namespace besides the resources; whoever may not look is told so, and sees the rest. */
export async function observeCluster(client: KubeClient, now: Date): Promise<Surroundings> {
  const pods = await allowed(() => ourPods(client));
  const lease = await allowed(() => operatorLease(client));
  const gateways = pods?.filter((pod) => componentOf(pod) === 'gateway').map(viewOfPod);
  const replicas = (pods ?? []).filter((pod) => componentOf(pod) === 'operator').map(viewOfPod);
  const operator = { ...operatorView(lease, now), replicas };
  return gateways === undefined ? { operator } : { operator, gateways };
}

/** Pods of operators, gateways and whatever else of ours runs, but for those that have ended. */
export async function ourPods(client: KubeClient): Promise<readonly Stored<Pod>[]> {
  const { items } = await listAll<Pod>(client, builtinKinds.pod, { labelSelector: partOf });
  return items.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}

export async function ourDeployments(client: KubeClient): Promise<readonly Stored<Deployment>[]> {
  return (await listAll<Deployment>(client, builtinKinds.deployment, { labelSelector: partOf })).items;
}

export function componentOf({ metadata }: Pick<Stored<Pod>, 'metadata'>): string {
  return metadata.labels?.[componentLabel] ?? '';
}

export type FoundLease = { readonly name: string; readonly lease: Stored<Lease> | undefined };

/** The lease by which operators agree on who acts, under the name that their Deployment gives it. */
export async function operatorLease(client: KubeClient): Promise<FoundLease> {
  const deployments = (await allowed(() => ourDeployments(client))) ?? [];
  const operators = deployments.filter((deployment) => componentOf(deployment) === 'operator');
  const named = operators.map(leaseNameOf).find((found) => found !== undefined);
  const name = named ?? defaultLease;
  return { name, lease: await client.get<Lease>(builtinKinds.lease, name) };
}

type Variable = { readonly name?: unknown; readonly value?: unknown };

function leaseNameOf({ spec }: Stored<Deployment>): string | undefined {
  const variables = spec.template.spec.containers.flatMap(({ env }) => (Array.isArray(env) ? (env as Variable[]) : []));
  const value = variables.find(({ name }) => name === leaseVariable)?.value;
  return typeof value === 'string' ? value : undefined;
}

function operatorView(found: FoundLease | undefined, now: Date): Omit<OperatorView, 'replicas'> {
  if (found === undefined)
    return { state: 'unknown', message: 'You may not look at leases, so who acts is not known.' };
  const { name, lease } = found;
  if (lease === undefined)
    return { state: 'absent', lease: name, message: `No operator has ever acted: there is no lease ${name}.` };
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease.spec;
  if (holderIdentity === '')
    return { state: 'absent', lease: name, message: `No operator acts: nobody holds the lease ${name}.` };
  const holder = holderOf(holderIdentity);
  const since = now.getTime() - Date.parse(renewTime ?? '');
  if (!(since <= leaseDurationSeconds * 1_000 + clockToleranceMs)) {
    const message = `No operator acts: ${holder} has not renewed the lease ${name} since ${renewTime ?? 'ever'}.`;
    return { state: 'absent', lease: name, holder, message };
  }
  return { state: 'acts', lease: name, holder, message: `${holder} holds the lease ${name} and acts.` };
}

/** A holder is the name of its pod and, behind the last underscore, what tells its processes apart. */
function holderOf(identity: string): string {
  return identity.replace(/_[^_]*$/, '');
}

function viewOfPod({ metadata, status }: Stored<Pod>): ProcessView {
  const { name } = metadata;
  const containers = status?.containerStatuses ?? [];
  const ready = containers.length > 0 && containers.every((container) => container.ready);
  if (metadata.deletionTimestamp !== undefined) return { name, ready: false, problem: 'it is ending' };
  if (ready) return { name, ready };
  const waiting = containers.map(({ state }) => state?.waiting).find((found) => found?.reason !== undefined);
  const unscheduled = status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  const [reason, text] = [waiting?.reason ?? unscheduled?.reason, waiting?.message ?? unscheduled?.message];
  if (reason === undefined) return { name, ready, problem: 'it is not ready yet' };
  return { name, ready, problem: text === undefined ? reason : `${reason}: ${text}` };
}

/** Undefined where the caller may not look; a place without such kinds has none of them to look at. */
export async function allowed<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isKubeError(error, 'forbidden')) return undefined;
    throw error;
  }
}
