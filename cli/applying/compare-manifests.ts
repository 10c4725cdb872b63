import { unifiedDiff } from '#kit/text/unified-diff';
import { desiredObject } from '#kube/apply/apply-manifest';
import type { Manifest } from '#kube/apply/read-manifests';
import type { Resource } from '#resources/metadata';
import { schemaOf } from '#resources/schemas';
import { yamlOf } from '../output/write.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { changedObject } from './changed-object.ts';

type Comparison = { readonly kind: string; readonly name: string; readonly isSame: boolean; readonly diff: string };

/** The difference between each resource of the platform and its state after its manifest is applied. */
export async function compareManifests(
  opened: Pick<OpenedResources, 'client' | 'objectOf'>,
  manifests: readonly Pick<Manifest, 'kind' | 'resource'>[],
): Promise<readonly Comparison[]> {
  const compared: Comparison[] = [];
  for (const written of manifests) {
    const { kind, resource } = written;
    const current = await changedObject(opened, written);
    const name = current?.metadata.name ?? resource.metadata.name;
    // An object keeps its name.
    const manifest = { kind, resource: { ...resource, metadata: { ...resource.metadata, name } } };
    const what = `${kind.kind} ${name}`;
    const diff = unifiedDiff(
      { label: `${what} on the platform`, text: current === undefined ? '' : textOf(manifest, current) },
      { label: `${what} in the file`, text: textOf(manifest, desiredObject(manifest, current)) },
    );
    compared.push({ kind: kind.kind, name, isSame: diff === '', diff });
  }
  return compared;
}

/** The fields that a manifest sets, in the order of the schema, which the documentation follows. */
function textOf({ kind }: Pick<Manifest, 'kind'>, { apiVersion, metadata, spec }: Resource): string {
  const { name, labels, annotations } = metadata;
  const written = {
    apiVersion,
    kind: kind.kind,
    metadata: { name, ...unlessEmpty('labels', labels), ...unlessEmpty('annotations', annotations) },
    spec,
  };
  const read = schemaOf(kind).safeParse(written);
  return yamlOf(read.success ? read.data : written);
}

function unlessEmpty(member: string, map: Readonly<Record<string, string>> | undefined): object {
  const entries = Object.entries(map ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? {} : { [member]: Object.fromEntries(entries) };
}
