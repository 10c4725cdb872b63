import type { AttributeCondition } from './condition.ts';

export type AttributeValue = string | number | boolean;

/** One item of an index: a chunk of a document, a memory, a description of an agent. */
export type IndexEntry = {
  /** Unique in its partition and never used again for other content. */
  readonly id: string;
  /** A query finds the entry only if it has one of these labels. */
  readonly labels: readonly string[];
  /** Values that conditions compare, by their path with dots. */
  readonly attributes: Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>;
  /** Stemmed terms in the order of the text, as `analyse` returns them. */
  readonly terms: readonly string[];
  /** Of unit length; absent while no embedder answered. */
  readonly vector?: Float32Array;
};

export type IndexChange =
  | { readonly kind: 'put'; readonly entry: IndexEntry }
  | { readonly kind: 'remove'; readonly id: string };

/** One ranking of a query. */
export type Leg =
  | { readonly kind: 'bm25'; readonly terms: readonly string[] }
  | { readonly kind: 'vector'; readonly vector: Float32Array };

export type CandidateQuery = {
  readonly partition: string;
  /** Labels of the caller; `every` for entries without rights of their own. */
  readonly labels: readonly string[] | 'every';
  readonly condition?: AttributeCondition;
  readonly legs: readonly Leg[];
  /** Most candidates of each leg. */
  readonly window: number;
};

export type Candidate = { readonly id: string; readonly score: number };

/**
 * An index of partitions. It yields candidates only: its caller decides in PostgreSQL which of them are returned.
 * Every method throws SearchUnavailableError if the engine cannot answer: a caller never takes that for an empty result.
 */
export type SearchIndex = AsyncDisposable & {
  /** Applies changes in their order; the partition then reflects every change up to the number `upTo`. */
  apply(partition: string, changes: readonly IndexChange[], upTo: bigint): Promise<void>;
  /** The number of the newest applied change; undefined if the partition is not loaded. */
  appliedThrough(partition: string): Promise<bigint | undefined>;
  /** The best candidates of each leg in its order, best first; equal scores are ordered by id. */
  candidates(query: CandidateQuery, signal?: AbortSignal): Promise<readonly (readonly Candidate[])[]>;
  /** Removes a partition and its entries. */
  drop(partition: string): Promise<void>;
};

/** Reads what an index is rebuilt from. */
export type PartitionSource = {
  /** The entries of a partition and the number of the newest change that they reflect. */
  load(partition: string): Promise<{ readonly upTo: bigint; readonly entries: AsyncIterable<readonly IndexEntry[]> }>;
};
