import type { RetrievalMode } from '#contracts/retrieval';
import { embedText } from '#models/embed-text';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { AttributeCondition } from '#search/condition';
import { fuseRankings } from '#search/fuse-rankings';
import type { Candidate, Leg, SearchIndex } from '#search/ports';
import { SearchUnavailableError } from '#search/search-error';
import type { Database } from '#sql/connect';
import type { CollectionRecord } from '../collections/collection-record.ts';
import { validAt } from '../index/chunk-attributes.ts';
import { partitionName } from '../index/partition-name.ts';
import {
  hasVisibleChange,
  isSwitched,
  timeIfSomeAreInvalid,
  type Visibility,
  type VisibleChunk,
  visibleChunks,
} from './visible-chunks.ts';

export type SearchPorts = {
  readonly database: Database;
  readonly index: SearchIndex;
  readonly models: Models;
  readonly analyse: (text: string) => readonly string[];
};

export type CollectionSearch = {
  readonly collection: CollectionRecord;
  readonly visibility: Visibility;
  readonly text: string;
  readonly mode: RetrievalMode;
  /** How many chunks an answer needs: a search that cannot find this number is refused instead of shortened. */
  readonly topK: number;
  /** How many chunks are returned if they are found; at least `topK`. */
  readonly depth: number;
  readonly condition: AttributeCondition | undefined;
  /** The profile of the active version; required by every mode except bm25. */
  readonly profile: EmbeddingProfile | undefined;
  readonly call: { readonly signal: AbortSignal; readonly traceparent: string };
};

export type RankedChunk = { readonly chunk: VisibleChunk; readonly score: number };

type Found = {
  readonly ranked: readonly RankedChunk[];
  /** A document changed after the candidates were chosen, so that it may be missing although the caller may see it. */
  readonly isOvertaken: boolean;
};

/** The weights of the two rankings by mode. */
export const weightsOf: Readonly<Record<RetrievalMode, { readonly vector: number; readonly bm25: number }>> = {
  hybrid: { vector: 1, bm25: 1 },
  vector: { vector: 1, bm25: 0 },
  bm25: { vector: 0, bm25: 1 },
};

/** Candidates of each ranking beyond those that are returned, because fusion and rights change the order. */
const firstWindow = (depth: number): number => Math.max(50, 4 * depth);
const widening = 8;

/** The embedding profile of the collection is not approved at present, so that the query cannot be embedded. */
export class ProfileUnavailableError extends Error {
  constructor() {
    super('the embedding profile of the collection is not approved at present');
    this.name = 'ProfileUnavailableError';
  }
}

/**
 * The best visible chunks of a collection, best first. The index proposes candidates and PostgreSQL decides which of
 * them are ranked: a hidden chunk takes no rank, so that scores do not depend on it. If too few candidates are visible,
 * the window grows, at most to the whole collection.
 * @throws SearchUnavailableError, ModelsError, SqlUnavailableError, ProfileUnavailableError: never an empty answer
 * instead
 */
export async function searchCollection(ports: SearchPorts, search: CollectionSearch): Promise<Found> {
  const { collection, topK, depth } = search;
  const legs = await legsOf(ports, search);
  const condition = await validCondition(ports, search);
  const { activeVersion } = collection;
  const whole = Math.max(1, collection.chunkCount);
  const most = Math.min(whole, ports.index.mostCandidates);
  const wanted = Math.min(firstWindow(depth), most);
  for (let window = wanted; ; window = Math.min(window * widening, most)) {
    const rankings = await ports.index.candidates(
      {
        partition: partitionName({ collectionId: collection.collectionId, version: activeVersion }),
        reflects: BigInt(collection.changeNo),
        labels: search.visibility.labels,
        ...(condition === undefined ? {} : { condition }),
        legs: legs.map(({ leg }) => leg),
        window,
      },
      search.call.signal,
    );
    const { chunks, dropped } = await decide(ports, search, rankings);
    if (dropped > 0 && (await isOvertaken(ports, search))) return { ranked: [], isOvertaken: true };
    const visible = rankings.map((ranking) => ranking.filter(({ id }) => chunks.has(id)).slice(0, wanted));
    const ranked = rank(visible, legs, chunks);
    const isExhausted = window >= whole || rankings.every((ranking) => ranking.length < window);
    const isFilled = visible.every(
      ({ length }, at) => length === wanted || (rankings[at] as readonly Candidate[]).length < window,
    );
    if (isFilled || isExhausted || (window === most && ranked.length >= topK)) {
      // The chunks of a version that was replaced long ago are removed: an answer of few chunks may lack some of them.
      const isLacking =
        ranked.length < topK && (await isSwitched(ports.database.sql, search.visibility, activeVersion));
      return isLacking ? { ranked: [], isOvertaken: true } : { ranked: ranked.slice(0, depth), isOvertaken: false };
    }
    if (window === most) throw new SearchUnavailableError('too_deep');
  }
}

/** The condition of the caller, and that documents are valid: evaluated by the index only if some are not. */
async function validCondition(
  { database }: SearchPorts,
  { visibility, condition }: CollectionSearch,
): Promise<AttributeCondition | undefined> {
  const now = await timeIfSomeAreInvalid(database.sql, visibility.collectionId);
  if (now === undefined) return condition;
  return condition === undefined ? validAt(now) : { and: [condition, validAt(now)] };
}

async function legsOf(
  { models, analyse }: SearchPorts,
  { mode, text, profile, call }: CollectionSearch,
): Promise<readonly { readonly leg: Leg; readonly weight: number }[]> {
  const weights = weightsOf[mode];
  const legs: { leg: Leg; weight: number }[] = [];
  if (weights.vector > 0) {
    if (profile === undefined) throw new ProfileUnavailableError();
    const vector = await embedText(models, { profile, use: 'query', text }, call);
    legs.push({ leg: { kind: 'vector', vector: vector as Float32Array }, weight: weights.vector });
  }
  if (weights.bm25 > 0) legs.push({ leg: { kind: 'bm25', terms: analyse(text) }, weight: weights.bm25 });
  return legs;
}

async function decide(
  { database }: SearchPorts,
  { collection, visibility }: CollectionSearch,
  rankings: readonly (readonly Candidate[])[],
): Promise<{ readonly chunks: ReadonlyMap<string, VisibleChunk>; readonly dropped: number }> {
  const ids = [...new Set(rankings.flatMap((ranking) => ranking.map(({ id }) => id)))];
  const chunks = await visibleChunks(database.sql, visibility, collection.activeVersion, ids);
  return { chunks: new Map(chunks.map((chunk) => [chunk.chunkId, chunk])), dropped: ids.length - chunks.length };
}

function rank(
  visible: readonly (readonly Candidate[])[],
  legs: readonly { readonly weight: number }[],
  chunks: ReadonlyMap<string, VisibleChunk>,
): readonly RankedChunk[] {
  const fused = fuseRankings(visible.map((candidates, at) => ({ candidates, weight: legs[at]?.weight ?? 0 })));
  return fused.map(({ id, score }) => ({ chunk: chunks.get(id) as VisibleChunk, score }));
}

/**
 * Candidates that are not visible may be earlier chunks of a document that has changed meanwhile, or chunks of a version that was
 * removed.
 */
async function isOvertaken(
  { database: { sql } }: SearchPorts,
  { collection, visibility }: CollectionSearch,
): Promise<boolean> {
  return (
    (await hasVisibleChange(sql, visibility, collection.changeNo)) ||
    (await isSwitched(sql, visibility, collection.activeVersion))
  );
}
