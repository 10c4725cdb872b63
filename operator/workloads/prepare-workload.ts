import type { Bundle } from '#contracts/bundle';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { BundleStore } from '../bundles/ports.ts';
import { BrokenError } from '../reconcile/outcome.ts';
import type { Workloads } from './ports.ts';
import { makeWorkload } from './resources/workload.ts';
import { workloadName } from './workload-name.ts';

type PrepareInput = {
  readonly bundle: Bundle;
  readonly bytes: Buffer;
  readonly digest: string;
  readonly build: string;
  readonly template: string | undefined;
  readonly replicas: number;
};

type PreparePorts = {
  readonly client: KubeClient;
  readonly bundles: Pick<BundleStore, 'put'>;
  readonly workloads: Pick<Workloads, 'render'>;
  /** The cached RuntimeWorkload; it may be stale. */
  readonly known: (name: string) => Stored<RuntimeWorkload> | undefined;
};

/**
 * Finds or creates the workload of a bundle, and reactivates a workload that is marked for deletion. The bundle is
 * stored before the object is created, so that every reader of the object can run the bundle. If the cached object is
 * sufficient, it is not read again here, but live before a route names it.
 */
export async function prepareWorkload(ports: PreparePorts, input: PrepareInput): Promise<Stored<RuntimeWorkload>> {
  const { client, bundles, workloads, known } = ports;
  const { digest, build, replicas } = input;
  const { providers } = input.bundle;
  const name = workloadName(input, providers);
  using _held = await bundles.put(digest, input.bytes);
  const held = known(name);
  const isKept = held !== undefined && held.metadata.deletionTimestamp === undefined && isEnough(held, replicas);
  const current = isKept ? held : await client.get<RuntimeWorkload>(kinds.runtimeWorkload, name);
  if (current === undefined) {
    const manifest = workloads.render({ name, digest, build, providers });
    const [policy] = input.bundle.policies;
    const revision = policy === undefined ? undefined : { policyId: policy.id, number: policy.revision };
    return client.create(kinds.runtimeWorkload, makeWorkload({ name, digest, build, manifest, replicas, revision }));
  }
  if (current.spec.digest !== digest || current.spec.build !== build) {
    throw new BrokenError('Refused', `the workload ${name} has another bundle or build`);
  }
  return keepWorkload(client, current, replicas);
}

/** Reactivates a workload that is marked for deletion, and raises its replicas if more are requested. */
export async function keepWorkload(
  client: KubeClient,
  current: Stored<RuntimeWorkload>,
  replicas: number,
): Promise<Stored<RuntimeWorkload>> {
  if (current.metadata.deletionTimestamp !== undefined)
    throw new KubeError('conflict', 'the workload is being deleted');
  if (isEnough(current, replicas)) return current;
  const wanted = Math.max(current.spec.replicas, replicas);
  const spec = { ...current.spec, replicas: wanted, state: 'Active' as const };
  return applyDesired(client, kinds.runtimeWorkload, current, { spec });
}

function isEnough({ spec }: RuntimeWorkload, replicas: number): boolean {
  return spec.state === 'Active' && spec.replicas >= replicas;
}
