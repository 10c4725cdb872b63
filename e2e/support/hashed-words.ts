import { createHash } from 'node:crypto';
import type { Models } from '#models/ports';
import { analyse } from '#search/analysis/analyse';

/** Models that return similar vectors for texts with equal words; `before` may throw instead of an answer. */
export function hashedWords(before: (texts: readonly string[]) => void | Promise<void> = () => undefined): Models {
  return {
    async embed(profile, _use, texts) {
      await before(texts);
      return texts.map((text) => wordVector(text, profile.dimension));
    },
    rerank: () => Promise.reject(new Error('not scripted')),
    complete: () => Promise.reject(new Error('not scripted')),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** A vector of unit length; texts with equal words have similar vectors. */
export function wordVector(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension).fill(0.01);
  for (const term of analyse(text)) {
    const at = createHash('sha256').update(term).digest().readUInt32LE(0) % dimension;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}
