import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { BundleStore } from '../../bundles/ports.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';

/** The only key of this controller: all bundles are swept together. */
export const allBundles = 'bundles';

type BundleSweepOptions = {
  readonly client: Pick<KubeClient, 'list'>;
  readonly bundles: Pick<BundleStore, 'sweep'>;
};

/** Removes bundles that no workload names, based on live reads; a failed pass is retried. */
export function createBundleSweep({ client, bundles }: BundleSweepOptions) {
  async function neededDigests(): Promise<ReadonlySet<string>> {
    const { items } = await listAll<RuntimeWorkload>(client, kinds.runtimeWorkload);
    return new Set(items.map((item) => item.spec.digest));
  }

  return {
    async reconcile(): Promise<PassOutcome> {
      await bundles.sweep(neededDigests);
      return { kind: 'settled' };
    },
  };
}
