import { sha256Hex } from '#contracts/canonical';
import type { EmbeddingProfile } from '#models/ports';

/**
 * Names the vectors of descriptions that a profile makes: its id, and a digest of what they depend on. Vectors of different keys are
 * never compared, also if another model took the id of a profile.
 */
export function vectorsKey({ id, model, dimension, sendDimension, passagePrefix }: EmbeddingProfile): string {
  return `${id}:${sha256Hex(JSON.stringify([model, dimension, sendDimension, passagePrefix])).slice(0, 16)}`;
}
