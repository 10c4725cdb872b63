/** The version of a collection whose chunks are searched together. */
export type IndexPartition = { readonly collectionId: string; readonly version: number };

/** The name of a partition of the search index. */
export function partitionName({ collectionId, version }: IndexPartition): string {
  return `${collectionId}/${version}`;
}

/** @throws Error for a name that `partitionName` did not make */
export function readPartitionName(name: string): IndexPartition {
  const [, collectionId, version] = /^([0-9a-f-]{36})\/([0-9]+)$/.exec(name) ?? [];
  if (collectionId === undefined || version === undefined)
    throw new Error('the name of a partition is not a collection id and a version');
  return { collectionId, version: Number(version) };
}
