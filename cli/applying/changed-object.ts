import type { Manifest } from '#kube/apply/read-manifests';
import { sameJson } from '#kube/apply/same-json';
import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import type { Resource, Stored } from '#resources/metadata';
import type { OpenedResources } from '../resources/resource-source.ts';

type AppliedManifest = Pick<Manifest, 'kind' | 'resource'>;
type Opened = Pick<OpenedResources, 'client' | 'objectOf'>;

/** The object that a manifest changes; undefined where it creates one. */
export function changedObject(
  { client, objectOf }: Opened,
  manifest: AppliedManifest,
): Promise<Stored<Resource> | undefined> {
  if (objectOf !== undefined) return objectOf(manifest);
  return client.get<Resource>(manifest.kind, manifest.resource.metadata.name);
}

/** Members of a policy that a command of the management API carries. */
const carried = [
  'displayName',
  'description',
  'lifecycle',
  'definition',
] as const satisfies readonly (keyof GuardrailPolicySpec)[];

/**
 * A sentence for each manifest that changes an object of another name: the copy of a file may be meant as a new object.
 * Only policies are found by anything but their name.
 */
export async function changesOfOtherNames(
  opened: Opened,
  manifests: readonly AppliedManifest[],
): Promise<readonly string[]> {
  if (opened.objectOf === undefined) return [];
  const sentences: string[] = [];
  for (const manifest of manifests) {
    const { kind, metadata } = manifest.resource;
    const current = await changedObject(opened, manifest);
    if (current === undefined || current.metadata.name === metadata.name) continue;
    if (isUnchanged(current as Stored<GuardrailPolicy>, manifest.resource as GuardrailPolicy)) continue;
    const { name } = current.metadata;
    sentences.push(
      `${kind} ${metadata.name} of the file would replace the ${kind} ${name}, which has its display name: set ` +
        `metadata.name to ${name}, or choose another spec.displayName for a new policy.`,
    );
  }
  return sentences;
}

function isUnchanged(current: Stored<GuardrailPolicy>, wanted: GuardrailPolicy): boolean {
  if (current.metadata.deletionTimestamp !== undefined) return false;
  return carried.every((member) => sameJson(current.spec[member], wanted.spec[member]));
}
