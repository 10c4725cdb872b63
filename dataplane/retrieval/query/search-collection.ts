import type { RetrievalMode } from '#contracts/retrieval';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { AttributeCondition } from '#search/condition';
import { fuseRankings } from '#search/fuse-rankings';
import type { Candidate, Leg, SearchIndex } from '#search/ports';
import { SearchUnavailableError } from '#search/search-error';
import type { Database } from '#sql/connect';
import type { CollectionRecord } from '../collections/collection-record.ts';
import { partitionName } from '../index/partition-name.ts';

import { hasVisibleChange, type Visibility, type VisibleChunk, visibleChunks } from './visible-chunks.ts';

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
  readonly topK: number;
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
const firstWindow = (topK: number): number => Math.max(50, 4 * topK);
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
 * them are returned. If too few are visible, the window grows up to the whole collection.
 * @throws SearchUnavailableError, ModelsError, SqlUnavailableError, ProfileUnavailableError: never an empty answer
 * instead
 */
export async function searchCollection(ports: SearchPorts, search: CollectionSearch): Promise<Found> {
  const { collection, topK } = search;
  const legs = await legsOf(ports, search);
  const whole = Math.max(1, collection.chunkCount);
  const most = Math.min(whole, ports.index.mostCandidates);
  for (let window = Math.min(firstWindow(topK), most); ; window = Math.min(window * widening, most)) {
    const rankings = await ports.index.candidates(
      {
        partition: partitionName({ collectionId: collection.collectionId, version: collection.activeVersion }),
        reflects: BigInt(collection.changeNo),
        labels: search.visibility.labels,
        ...(search.condition === undefined ? {} : { condition: search.condition }),
        legs: legs.map(({ leg }) => leg),
        window,
      },
      search.call.signal,
    );
    const fused = fuseRankings(rankings.map((candidates, at) => ({ candidates, weight: legs[at]?.weight ?? 0 })));
    const found = await decide(ports, search, fused);
    if (await isOvertaken(ports, search, fused.length - found.length)) return { ranked: [], isOvertaken: true };
    const isExhausted = window >= whole || rankings.every((ranking) => ranking.length < window);
    if (found.length >= topK || isExhausted) return { ranked: found.slice(0, topK), isOvertaken: false };
    if (window === most) throw new SearchUnavailableError('too_deep');
  }
}

async function legsOf(
  { models, analyse }: SearchPorts,
  { mode, text, profile, call }: CollectionSearch,
): Promise<readonly { readonly leg: Leg; readonly weight: number }[]> {
  const weights = weightsOf[mode];
  const legs: { leg: Leg; weight: number }[] = [];
  if (weights.vector > 0) {
    if (profile === undefined) throw new ProfileUnavailableError();
    const [vector] = await models.embed(profile, 'query', [text], call);
    legs.push({ leg: { kind: 'vector', vector: vector as Float32Array }, weight: weights.vector });
  }
  if (weights.bm25 > 0) legs.push({ leg: { kind: 'bm25', terms: analyse(text) }, weight: weights.bm25 });
  return legs;
}

async function decide(
  { database }: SearchPorts,
  { collection, visibility }: CollectionSearch,
  fused: readonly Candidate[],
): Promise<readonly RankedChunk[]> {
  const scores = new Map(fused.map(({ id, score }) => [id, score]));
  const visible = await visibleChunks(database.sql, visibility, collection.activeVersion, [...scores.keys()]);
  return visible.map((chunk) => ({ chunk, score: scores.get(chunk.chunkId) ?? 0 }));
}

/** Candidates that are not visible may be earlier chunks of a document that has changed meanwhile. */
async function isOvertaken(
  { database }: SearchPorts,
  { collection, visibility }: CollectionSearch,
  dropped: number,
): Promise<boolean> {
  return dropped > 0 && (await hasVisibleChange(database.sql, visibility, collection.changeNo));
}
