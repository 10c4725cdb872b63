import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Deployment, Lease, Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import type { Stored } from '#resources/metadata';

/** Selects the objects that the chart installs. */
export const installationSelector = 'app.kubernetes.io/part-of=portcullis';
const componentLabel = 'app.kubernetes.io/component';
const leaseVariable = 'PORTCULLIS_LEASE_NAME';
const defaultLease = 'portcullis-operator';

/** The pods of the installation, without those that have ended. */
export async function ourPods(client: KubeClient): Promise<readonly Stored<Pod>[]> {
  const { items } = await listAll<Pod>(client, builtinKinds.pod, { labelSelector: installationSelector });
  return items.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}

export async function ourDeployments(client: KubeClient): Promise<readonly Stored<Deployment>[]> {
  return (await listAll<Deployment>(client, builtinKinds.deployment, { labelSelector: installationSelector })).items;
}

export function componentOf({ metadata }: Pick<Stored<Pod>, 'metadata'>): string {
  return metadata.labels?.[componentLabel] ?? '';
}

export type FoundLease = { readonly name: string; readonly lease: Stored<Lease> | undefined };

/** The Lease of the leader election, under the name that the Deployment of the operator sets. */
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

/** Undefined when the caller has no permission to read the objects. */
export async function allowed<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isKubeError(error, 'forbidden')) return undefined;
    throw error;
  }
}
