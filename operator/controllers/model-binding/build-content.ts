import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { PolicyRevision } from '#resources/policy-revision';
import type { Content } from '../../applications/application.ts';
import { type BuiltBundle, buildBundle } from '../../bundles/build-bundle.ts';
import { revisionName } from '../../revisions/resources/revision.ts';
import type { BindingWorld } from './gather.ts';

/**
 * The bundle of an application, built from the recorded revision; undefined for an unguarded one, and if the revision
 * or the settings do not allow it.
 */
export async function buildContent(
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
