import { analyse } from '#search/analysis/analyse';
import { fuseRankings } from '#search/fuse-rankings';
import type { Candidate, IndexChange, Leg, SearchIndex } from '#search/ports';
import { embeddingsOf } from '../../dataplane/echo/answers/embedding.ts';
import type { JudgedSet } from './judged-set.ts';
import { depth, measureQuality, type SearchQuality } from './measure-quality.ts';

/** Dimension of the embedding profile of a platform on one machine. */
export const comparedDimensions = 384;
const groups = 5;
const window = 100;

/** Entries with a vector and the label of one of five groups. */
export function groupedEntries({ documents }: JudgedSet): readonly IndexChange[] {
  return documents.map(({ id, text }, at) => {
    const terms = analyse(text);
    const labels = ['everyone', `group:${at % groups}`];
    return { kind: 'put', entry: { id, group: id, labels, attributes: {}, terms, vector: vectorOf(text) } };
  });
}

/** The vector of the offline embedding model, which a platform on one machine uses at first. */
function vectorOf(input: string): Float32Array {
  const { data } = embeddingsOf({ model: 'echo', input, dimensions: comparedDimensions });
  return Float32Array.from(data[0]?.embedding as number[]);
}

type Indexed = { readonly index: SearchIndex; readonly reflects: bigint };

type IndexComparison = {
  /** Mean share of the first ten results of each leg that both indexes return. */
  readonly overlaps: { readonly bm25: number; readonly vector: number };
  readonly qualities: readonly { readonly bm25: SearchQuality; readonly hybrid: SearchQuality }[];
  /**
   * Number of entries that only one of the indexes found for a caller in two groups, with windows that contain all
   * entries.
   */
  readonly rightsDifferences: number;
};

/** Sends the same queries to two indexes with the same entries of a judged set. */
export async function compareIndexes(set: JudgedSet, both: readonly [Indexed, Indexed]): Promise<IndexComparison> {
  const overlaps = { bm25: 0, vector: 0 };
  let rightsDifferences = 0;
  for (const [at, { text }] of set.queries.entries()) {
    const labels = [`group:${at % groups}`, `group:${(at * 3 + 1) % groups}`];
    const asked = { labels, window: set.documents.length };
    const [one, other] = await Promise.all(both.map((indexed) => ask(indexed, text, asked)));
    rightsDifferences += difference(one?.[0], other?.[0]) + difference(one?.[1], other?.[1]);
    const [first, second] = await Promise.all(
      both.map((indexed) => ask(indexed, text, { labels: ['everyone'], window })),
    );
    overlaps.bm25 += overlap(first?.[0], second?.[0]) / set.queries.length;
    overlaps.vector += overlap(first?.[1], second?.[1]) / set.queries.length;
  }
  const qualities = [];
  for (const indexed of both) {
    const everyone = { labels: ['everyone'], window };
    qualities.push({
      bm25: await measureQuality(set, async (text) => idsOf((await ask(indexed, text, everyone))[0])),
      hybrid: await measureQuality(set, async (text) => {
        const rankings = await ask(indexed, text, everyone);
        return idsOf(fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 }))));
      }),
    });
  }
  return { overlaps, qualities, rightsDifferences };
}

async function ask({ index, reflects }: Indexed, text: string, asked: { labels: readonly string[]; window: number }) {
  const terms = analyse(text);
  const legs: readonly Leg[] = [
    { kind: 'bm25', terms },
    { kind: 'vector', vector: vectorOf(text) },
  ];
  return index.candidates({ partition: 'compared', reflects, legs, ...asked });
}

function idsOf(ranking: readonly Candidate[] | undefined): readonly string[] {
  return (ranking ?? []).map(({ id }) => id);
}

function overlap(one: readonly Candidate[] | undefined, other: readonly Candidate[] | undefined): number {
  const [first, second] = [idsOf(one).slice(0, depth), idsOf(other).slice(0, depth)];
  const most = Math.max(first.length, second.length);
  return most === 0 ? 1 : first.filter((id) => second.includes(id)).length / most;
}

function difference(one: readonly Candidate[] | undefined, other: readonly Candidate[] | undefined): number {
  return new Set(idsOf(one)).symmetricDifference(new Set(idsOf(other))).size;
}
