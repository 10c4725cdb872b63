import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { type Content, pinnedApplication } from '../../applications/application.ts';
import { readPrevious } from '../../applications/previous-application.ts';
import type { BundleStore } from '../../bundles/ports.ts';
import type { ServedPin } from '../../served/ports.ts';
import { buildContent } from '../model-binding/build-content.ts';
import type { BindingWorld } from '../model-binding/gather.ts';

type RestorePorts = {
  readonly client: Pick<KubeClient, 'get'>;
  readonly bundles: Pick<BundleStore, 'put'>;
  readonly logger: Pick<Logger, 'info'>;
};

/**
 * Stores a removed bundle of a workload again, rebuilt from the revisions that its routes pin. @returns false if no
 * revision gives the same bytes any more
 */
export async function restoreBundle(
  ports: RestorePorts,
  world: BindingWorld & { readonly pins: ReadonlyMap<string, ServedPin> },
  name: string,
  { digest }: Pick<RuntimeWorkload['spec'], 'digest'>,
): Promise<boolean> {
  for (const content of [...contentsOf(world, name), ...servedContents(world.pins, name)]) {
    const built = await buildContent(ports.client, world, content);
    if (built?.digest !== digest) continue;
    // The workload names the bundle, so that the sweep keeps it.
    using _held = await ports.bundles.put(digest, built.bytes);
    ports.logger.info('bundle_restored', { workload: name, digest });
    return true;
  }
  return false;
}

function servedContents(pins: ReadonlyMap<string, ServedPin>, workload: string): readonly Content[] {
  return [...pins.values()]
    .filter((pin) => pin.workload === workload)
    .map(({ policyId, policyRevision, contentProfile }) => ({
      mode: 'Policy',
      policyId,
      policyRevision,
      contentProfile,
    }));
}

/** The applications that the routes of a workload pin, or would roll back to. */
function contentsOf({ stores }: BindingWorld, workload: string): readonly Content[] {
  return stores.routes.by('workload', workload).flatMap((route) => {
    const previous = readPrevious(route);
    if (previous?.mode !== 'Policy') return [pinnedApplication(route.spec).content];
    const { token, contentProfile, guardrail } = previous;
    const before = pinnedApplication({ ...route.spec, token, contentProfile, guardrail });
    return [pinnedApplication(route.spec).content, before.content];
  });
}
