import type { Models } from '#models/ports';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';

/** Models that return similar vectors for texts with equal words, count their texts, and fail while `failure` is set. */
export function countedWords(): Models & { failure: Error | undefined; embedded(): number } {
  let count = 0;
  const state = { failure: undefined as Error | undefined };
  const words = hashedWords((texts) => {
    if (state.failure !== undefined) throw state.failure;
    count += texts.length;
  });
  return Object.assign(state, words, { embedded: () => count });
}
