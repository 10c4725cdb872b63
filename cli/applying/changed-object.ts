import type { Manifest } from '#kube/apply/read-manifests';
import { sameJson } from '#kube/apply/same-json';
import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import type { OpenedResources } from '../resources/resource-source.ts';

type AppliedManifest = Pick<Manifest, 'kind' | 'resource'>;
type Opened = Pick<OpenedResources, 'client' | 'objectOf'>;

/** The object that a manifest changes; undefined if it creates a new object. */
export function changedObject(
  { client, objectOf }: Opened,
  manifest: AppliedManifest,
): Promise<Stored<Resource> | undefined> {
  if (objectOf !== undefined) return objectOf(manifest);
  return client.get<Resource>(manifest.kind, manifest.resource.metadata.name);
}

/** Members of a policy that a command of the management API contains. */
const carried = [
  'displayName',
  'description',
  'lifecycle',
  'definition',
] as const satisfies readonly (keyof GuardrailPolicySpec)[];

/**
 * A sentence for each manifest that changes an object with another name: the copy of a file may be intended as a new
 * object. Only policies are also found by their display name.
 * @throws CliError usage for two policies of the same command of which one would replace the other
 */
export async function changesOfOtherNames(
  opened: Opened,
  manifests: readonly AppliedManifest[],
): Promise<readonly string[]> {
  if (opened.objectOf === undefined) return [];
  await refuseSharedDisplayName(opened, manifests);
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

/**
 * A new policy with the same display name as another policy of the same files would be found by that name, and replace
 * it.
 */
async function refuseSharedDisplayName({ client }: Opened, manifests: readonly AppliedManifest[]): Promise<void> {
  const policies = manifests.flatMap(({ resource }) => (isPolicy(resource) ? [resource] : []));
  for (const [displayName, sharing] of Map.groupBy(policies, ({ spec }) => spec.displayName)) {
    if (sharing.length === 1) continue;
    const found = await Promise.all(sharing.map(({ metadata }) => client.get(kinds.guardrailPolicy, metadata.name)));
    if (!found.includes(undefined)) continue;
    const names = sharing.map(({ metadata }) => metadata.name).join(' and ');
    throw new CliError(
      'usage',
      `The policies ${names} of the files have the same display name ${JSON.stringify(displayName)}, by which the ` +
        'management API finds a policy: one would replace the other. Give each another spec.displayName.',
    );
  }
}

/** The schema of the kind has validated the resource. */
function isPolicy(resource: Resource): resource is GuardrailPolicy {
  return resource.kind === kinds.guardrailPolicy.kind;
}

function isUnchanged(current: Stored<GuardrailPolicy>, wanted: GuardrailPolicy): boolean {
  if (current.metadata.deletionTimestamp !== undefined) return false;
  return carried.every((member) => sameJson(current.spec[member], wanted.spec[member]));
}
