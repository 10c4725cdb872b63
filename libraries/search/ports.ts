import type { AttributeCondition } from './condition.ts';

export type AttributeValue = string | number | boolean;

/** The part of an entry that never changes while its id stays. */
export type EntryContent = {
  /** An id that is unique in its partition and is never used again for other terms, another vector or another group. */
  readonly id: string;
  /** Terms in the order of the text, as `analyse` returns them. */
  readonly terms: readonly string[];
  /**
   * The vector, of unit length, with the same number of dimensions in a whole partition; absent until an embedder has
   * answered.
   */
  readonly vector?: Float32Array;
};

/** The part of an entry that is about its group, and may change. */
export type EntryScope = {
  /**
   * The group of the entry: entries of one group, such as a document or a memory, are replaced and removed together.
   */
  readonly group: string;
  /** The labels of the entry: a query finds the entry only if it names one of these labels. */
  readonly labels: readonly string[];
  /** Values that conditions compare, by their path with dots. */
  readonly attributes: Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>;
};

/** One item of an index: a chunk of a document, a memory, a description of an agent. */
export type IndexEntry = EntryContent & EntryScope;

/**
 * Entries as their store keeps them for an index in memory: `packEntries` packed their content when it was stored, so
 * that loading need not analyse texts again.
 */
export type EntryBlock = {
  readonly packed: Uint8Array;
  /**
   * Called once for each place of the block; returns the same object for entries that share it. Its attributes are read
   * when a condition first needs them, and only once: a getter may decode them.
   */
  readonly scopeOf: (at: number) => EntryScope;
  /** Estimated bytes that all scopes of the block occupy in memory. */
  readonly scopeBytes: number;
};

/** Applying a change twice has the effect of applying it once. */
export type IndexChange =
  /** Adds the entry, or replaces the entry with the same id. */
  | { readonly kind: 'put'; readonly entry: IndexEntry }
  /** Removes the entries of a group except those with the given ids; without ids, the whole group is removed. */
  | { readonly kind: 'retain'; readonly group: string; readonly ids: readonly string[] };

/** One ranking of a query. */
export type Leg =
  | { readonly kind: 'bm25'; readonly terms: readonly string[] }
  | { readonly kind: 'vector'; readonly vector: Float32Array };

export type CandidateQuery = {
  readonly partition: string;
  /** The newest committed change that the caller has read: the answer reflects it and all before it. */
  readonly reflects: bigint;
  /** Labels of the caller; `every` for entries without individual rights. */
  readonly labels: readonly string[] | 'every';
  readonly condition?: AttributeCondition;
  readonly legs: readonly Leg[];
  /** Maximum number of candidates of each leg, from 1 to the `mostCandidates` of the index. */
  readonly window: number;
};

export type Candidate = { readonly id: string; readonly score: number };

/**
 * An index of partitions: the version of a collection, the memories of a person. An index returns candidates only: its
 * caller decides in PostgreSQL which candidates are returned. Every method throws SearchUnavailableError if the engine
 * cannot answer, so that this case cannot be mistaken for an empty result.
 */
export type SearchIndex = AsyncDisposable & {
  /** The largest window of a query. */
  readonly mostCandidates: number;
  /**
   * Applies changes to the index in order. Call it with `put` changes before the commit that makes them visible, and
   * with `retain` changes after it. An engine that follows committed changes on its own returns immediately.
   */
  write(partition: string, changes: readonly IndexChange[]): Promise<void>;
  /**
   * The best candidates of each leg in its order, best first; equal scores are ordered by id (code units). In each leg,
   * only entries with one of the labels that fulfil the condition are ranked. A bm25 leg returns entries with at least
   * one of its terms, a vector leg entries with a vector.
   */
  candidates(query: CandidateQuery, signal?: AbortSignal): Promise<readonly (readonly Candidate[])[]>;
  /** Removes a partition and its entries; its name is not used again. */
  drop(partition: string): Promise<void>;
};

/** The changes that were committed after a number. */
export type CommittedChanges =
  | {
      readonly kind: 'changes';
      /**
       * The present content of every group that changed, in pages, each of which is read when it is requested: first
       * `put` changes of entries, then the `retain` change of each group. If the source rejects, changes that were
       * already applied may stay applied.
       */
      readonly changes: AsyncIterable<readonly IndexChange[]>;
      /** The partition reflects every change up to this number once these are applied. */
      readonly upTo: bigint;
      /** Whether changes were left for the next call, so that this call stays short. */
      readonly more: boolean;
    }
  /** The changes are no longer known, because tombstones were removed: the partition is loaded again. */
  | { readonly kind: 'forgotten' };

/**
 * Reads committed entries, from which an index in memory is built and kept up to date. The change numbers of a
 * partition increase in the order of the commits: a transaction takes its number under a lock that it holds until its
 * end. If the source cannot be read, the calls reject.
 */
export type PartitionSource = {
  /**
   * The entries of a partition; undefined if there is no such partition. `upTo` is read before the first entry. Pages
   * may mix older and newer states, because the changes after `upTo` are applied afterwards.
   */
  load(
    partition: string,
  ): Promise<{ readonly upTo: bigint; readonly entries: AsyncIterable<readonly IndexEntry[]> } | undefined>;
  /**
   * Minimum number of bytes that a partition needs in memory, such as the bytes of its vectors, read without its
   * entries: an index refuses a partition that is too large before reading it. The number decreases only when the
   * partition becomes smaller. Undefined if it is not known.
   */
  leastBytes?(partition: string): Promise<number | undefined>;
  /**
   * The entries of a partition as blocks; an engine that needs no words prefers this method. Absent if the store has no
   * blocks.
   */
  loadBlocks?(
    partition: string,
  ): Promise<{ readonly upTo: bigint; readonly blocks: AsyncIterable<readonly EntryBlock[]> } | undefined>;
  /** Changes committed after a number, oldest first; undefined if there is no such partition. */
  changesAfter(partition: string, after: bigint): Promise<CommittedChanges | undefined>;
};
