import { sha256Hex } from '#contracts/canonical';
import type { EmbeddingProfile } from './ports.ts';

/**
 * The key of the vectors of a profile: its id and a digest of its model, dimension and prefix of passages. Vectors of different keys
 * are never compared, even if another model has the same profile id.
 */
export function vectorsKey({ id, model, dimension, sendDimension, passagePrefix }: EmbeddingProfile): string {
  return `${id}:${sha256Hex(JSON.stringify([model, dimension, sendDimension, passagePrefix])).slice(0, 16)}`;
}
