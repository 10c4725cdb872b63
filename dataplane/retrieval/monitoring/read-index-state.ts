import type { Database } from '#sql/connect';
import { readPartitionName } from '../index/partition-name.ts';

/** The content of an index in the memory of this replica. */
export type HeldIndex = {
  /** The names of the partitions in memory. */
  loaded(): readonly string[];
  /** The number of the newest applied change; undefined if the partition is not in memory. */
  appliedThrough(partition: string): bigint | undefined;
  /** Estimated bytes of the partitions in memory. */
  bytes(): number;
};

export type IndexState = {
  readonly bytes: number;
  /** Versions of collections in memory. */
  readonly versions: number;
  /**
   * Number of committed changes that the index of the most outdated collection lacks. A query applies these changes
   * before it is answered: they add latency, and no committed change is missing from an answer.
   */
  readonly unappliedChanges: number;
};

/** @throws SqlUnavailableError */
export async function readIndexState({ sql }: Database, index: HeldIndex): Promise<IndexState> {
  const held = index.loaded().flatMap((name) => {
    const applied = index.appliedThrough(name);
    return applied === undefined ? [] : [{ ...readPartitionName(name), applied }];
  });
  const ids = held.map(({ collectionId }) => collectionId);
  const rows = await sql<{ id: string; changeNo: string }[]>`
    select collection_id as id, change_no as "changeNo" from retrieval.collections
    where collection_id = any(${ids}::uuid[])`;
  const committed = new Map(rows.map(({ id, changeNo }) => [id, BigInt(changeNo)]));
  const behind = held.map(({ collectionId, applied }) => Number((committed.get(collectionId) ?? applied) - applied));
  return { bytes: index.bytes(), versions: held.length, unappliedChanges: Math.max(0, ...behind) };
}
