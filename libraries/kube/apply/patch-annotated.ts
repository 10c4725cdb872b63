import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { type JsonPatchOperation, pointerSegment } from '../client/json-patch.ts';
import { isKubeError } from '../client/kube-error.ts';
import type { KubeObject } from '../client/kube-object.ts';

/** Number of attempts to add the first annotation of an object, because other writers of its metadata can interfere. */
const maxAttempts = 5;

/** Patches an object and sets annotations in the same change. */
export async function patchAnnotated<R extends KubeObject = Resource>(
  client: Pick<KubeClient, 'get' | 'patch'>,
  kind: Kind,
  name: string,
  annotations: Readonly<Record<string, string>>,
  change: readonly JsonPatchOperation[],
): Promise<Stored<R>> {
  if (Object.keys(annotations).length === 0) return client.patch<R>(kind, name, change);
  for (let attempt = 1; ; attempt++) {
    const live = await client.get<R>(kind, name);
    try {
      return await client.patch<R>(kind, name, [...annotationOperations(live, annotations), ...change]);
    } catch (error) {
      // Another client wrote the metadata first: in the next attempt, the tests of the change decide.
      const isRaced = live?.metadata.annotations === undefined && isKubeError(error, 'precondition_failed');
      if (!isRaced || attempt === maxAttempts) throw error;
    }
  }
}

/** A JSON Patch can add a member only to an existing map, and replaces the whole map only if there was no map. */
function annotationOperations(
  live: Stored<KubeObject> | undefined,
  wanted: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  if (live === undefined) return [];
  const { annotations, resourceVersion } = live.metadata;
  if (annotations === undefined) {
    return [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/metadata/annotations', value: wanted },
    ];
  }
  return Object.entries(wanted).map(([name, value]) => ({
    op: 'add',
    path: `/metadata/annotations/${pointerSegment(name)}`,
    value,
  }));
}
