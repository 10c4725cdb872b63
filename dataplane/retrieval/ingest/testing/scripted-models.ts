import { createHash } from 'node:crypto';
import type { EmbeddingProfile, Models } from '#models/ports';

export const testProfile: EmbeddingProfile = {
  id: 'test-profile',
  model: 'test-model',
  dimension: 8,
  sendDimension: false,
  batch: 16,
  maxTokens: 1_000,
  queryPrefix: '',
  passagePrefix: '',
};

/** Embeddings that depend only on the text; `before` may throw instead of an answer. */
export function scriptedModels(before: (texts: readonly string[]) => void | Promise<void> = () => undefined): Models {
  return {
    async embed(profile, _use, texts) {
      await before(texts);
      return texts.map((text) => vectorOf(text, profile.dimension));
    },
    rerank: () => Promise.reject(new Error('not scripted')),
    complete: () => Promise.reject(new Error('not scripted')),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function vectorOf(text: string, dimension: number): Float32Array {
  const bytes = createHash('sha256').update(text).digest();
  const raw = Float32Array.from({ length: dimension }, (_, at) => (bytes[at % bytes.length] ?? 0) - 127.5);
  const norm = Math.hypot(...raw);
  return raw.map((value) => value / norm);
}
