import { analyse } from '#search/analysis/analyse';
import type { IndexEntry } from '#search/ports';
import { missingJudgedSet, readJudgedSet } from '../retrieval-quality/judged-set.ts';

/** Number of groups to which the chunks are assigned: the label of one group selects 5 % of all chunks. */
export const groups = 20;
/** Sentences of a chunk, about 800 characters. */
const sentencesOfChunk = 6;

type Random = () => number;

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Corpus = {
  /** The material of the generated texts. */
  readonly kind: string;
  readonly sentences: readonly string[];
  readonly questions: readonly string[];
};

/**
 * Sentences and questions of XQuAD-ru; if it is missing, sentences of random words with the frequencies of a natural
 * language.
 */
export function readCorpus(): Corpus {
  if (missingJudgedSet !== undefined) return inventCorpus();
  const { documents, queries } = readJudgedSet();
  const sentences = documents.flatMap(({ text }) => text.split(/(?<=[.!?])\s+/)).filter((text) => text.length > 20);
  return { kind: 'XQuAD-ru', sentences, questions: queries.map(({ text }) => text) };
}

function inventCorpus(): Corpus {
  const random = randomOf(1);
  // A word of rank r is about as frequent as 1 / r.
  const word = () => `слово${Math.floor(Math.exp(random() * Math.log(20_000)))}`;
  const text = (words: number) => Array.from({ length: words }, word).join(' ');
  return {
    kind: 'invented words',
    sentences: Array.from({ length: 1_200 }, () => text(20)),
    questions: Array.from({ length: 1_000 }, () => text(7)),
  };
}

export function randomVector(random: Random, dimensions: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5);
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

type Chunk = { readonly no: number; readonly group: number; readonly entry: IndexEntry };

/** Chunk `no`: real sentences with a random vector, the same for the same numbers. */
export function makeChunk(no: number, dimensions: number, sentences: readonly (readonly string[])[]): Chunk {
  const random = randomOf(no * 2 + 1);
  const terms = Array.from(
    { length: sentencesOfChunk },
    () => sentences[Math.floor(random() * sentences.length)] ?? [],
  ).flat();
  const group = Math.floor(random() * groups);
  const id = `chunk-${String(no).padStart(7, '0')}`;
  const vector = randomVector(random, dimensions);
  const entry = {
    id,
    group: `document-${Math.floor(no / 10)}`,
    labels: [`group:${group}`],
    attributes: {},
    terms,
    vector,
  };
  return { no, group, entry };
}

/** The terms of each sentence, from which chunks are composed. */
export function analysed(corpus: Corpus): readonly (readonly string[])[] {
  return corpus.sentences.map((text) => analyse(text));
}
