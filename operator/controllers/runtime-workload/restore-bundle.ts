import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { BindingWorld } from '../../acceptance/gather-views.ts';
import { type Content, pinnedApplication } from '../../applications/application.ts';
import { readPrevious } from '../../applications/previous-application.ts';
import { type BuiltBundle, buildBundle } from '../../bundles/build-bundle.ts';
import type { BundleStore } from '../../bundles/ports.ts';
import { revisionName } from '../../revisions/resources/revision.ts';
import type { ServedPin } from '../../served/ports.ts';

type RestorePorts = {
  readonly client: Pick<KubeClient, 'get'>;
  readonly bundles: Pick<BundleStore, 'put'>;
  readonly logger: Pick<Logger, 'info'>;
};

/**
 * Stores a removed bundle of a workload again, rebuilt from the revisions that its routes pin. @returns false if no
 * revision gives the same bytes
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

/**
 * The bundle of an application, built from the recorded revision; undefined for an unguarded application, and if the
 * revision or the settings do not allow it.
 */
async function buildContent(
  client: Pick<KubeClient, 'get'>,
  { limits, approved }: Pick<BindingWorld, 'limits' | 'approved'>,
  content: Content,
): Promise<BuiltBundle | undefined> {
  if (content.mode !== 'Policy' || content.policyId === undefined) return undefined;
  const { policyId, policyRevision, contentProfile } = content;
  const revision = await client.get<PolicyRevision>(kinds.policyRevision, revisionName(policyId, policyRevision));
  if (revision === undefined) return undefined;
  const bundle = buildBundle({ revision: revision.spec, contentProfile, limits, approved });
  return bundle.kind === 'built' ? bundle : undefined;
}
