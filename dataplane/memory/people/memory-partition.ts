import type { EmbeddingProfile } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';

/**
 * The partition of the index with the memories of a person and their vectors of a profile; without a profile, the
 * partition without vectors. When the profile gets another model or dimension, another partition is used: a partition
 * never has vectors of two models.
 */
export function memoryPartitionOf(person: string, profile: EmbeddingProfile | undefined): string {
  return `${profile === undefined ? '' : vectorsKey(profile)}/${person}`;
}

/** The key of the vectors is undefined without a profile, and has no "/". */
export function partsOfPartition(partition: string): { readonly key: string | undefined; readonly person: string } {
  const end = partition.indexOf('/');
  return { key: end === 0 ? undefined : partition.slice(0, end), person: partition.slice(end + 1) };
}

/** An index whose partitions in memory have names. */
export type LoadedIndex = { loaded(): readonly string[]; drop(partition: string): Promise<void> };

/** Removes persons from the index in memory: their partitions of all profiles. */
export async function dropPeople(index: LoadedIndex, isGone: (person: string) => boolean): Promise<void> {
  for (const partition of index.loaded()) if (isGone(partsOfPartition(partition).person)) await index.drop(partition);
}
