import { z } from 'zod';
import { ModelsError } from './models-error.ts';
import type { EmbeddingProfile, RerankedDocument } from './ports.ts';

const embeddingAnswer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.union([z.array(z.number()), z.string()]) })),
});
const rerankAnswer = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
});
const chatAnswer = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});

/** The vectors of an embeddings answer in the order of the texts, each of unit length. @throws ModelsError `invalid` */
export function readVectors(answer: unknown, profile: EmbeddingProfile, count: number): readonly Float32Array[] {
  const { data } = shaped(embeddingAnswer, answer);
  const places = placesOf(data, count);
  return places.map(({ embedding }) => {
    const vector = typeof embedding === 'string' ? decoded(embedding) : Float32Array.from(embedding);
    if (vector.length !== profile.dimension) {
      throw new ModelsError('invalid', `a vector has ${vector.length} numbers, and the profile ${profile.dimension}`);
    }
    return unitLength(vector);
  });
}

/** The scores of a rerank answer by the place of their document. @throws ModelsError `invalid` */
export function readScores(answer: unknown, count: number): readonly number[] {
  const { results } = shaped(rerankAnswer, answer);
  return placesOf(results, count).map(({ relevance_score: score }) => score);
}

/** The text of a chat answer. @throws ModelsError `invalid` */
export function readCompletion(answer: unknown): string {
  const [choice] = shaped(chatAnswer, answer).choices;
  if (choice === undefined) throw new ModelsError('invalid');
  return choice.message.content;
}

/** Best first; equal scores keep the order of the documents. */
export function byScore(scores: readonly number[]): readonly RerankedDocument[] {
  return scores
    .map((score, index) => ({ index, score }))
    .sort((one, other) => other.score - one.score || one.index - other.index);
}

function shaped<S extends z.ZodType>(schema: S, answer: unknown): z.infer<S> {
  const read = schema.safeParse(answer);
  if (!read.success) throw new ModelsError('invalid');
  return read.data;
}

/**
 * The entries in the order of their index. An answer is invalid unless it has exactly one entry for each index,
 * starting at 0.
 */
function placesOf<E extends { readonly index: number }>(entries: readonly E[], count: number): readonly E[] {
  const places = new Map(entries.map((entry) => [entry.index, entry]));
  const ordered = Array.from({ length: count }, (_, index) => places.get(index));
  const found = ordered.filter((entry) => entry !== undefined);
  if (entries.length !== count || found.length !== count) {
    throw new ModelsError('invalid', `${entries.length} entries do not answer ${count} texts one to one`);
  }
  return found;
}

/** `encoding_format: base64` of the OpenAI API: numbers of 32 bits, least byte first. */
function decoded(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) throw new ModelsError('invalid', 'a vector ends within a number');
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

function unitLength(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.sqrt(squares);
  if (!Number.isFinite(norm) || norm === 0)
    throw new ModelsError('invalid', 'a vector is zero, infinite or not a number');
  return vector.map((value) => value / norm);
}
