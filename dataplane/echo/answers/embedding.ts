import { createHash } from 'node:crypto';
import { z } from 'zod';
import { wordsOf } from './echo-text.ts';

export const embeddingsRequestSchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(2_048)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).max(4_096).nullish(),
});
type EmbeddingsRequest = z.infer<typeof embeddingsRequestSchema>;

const defaultDimensions = 256;

/** The answer to an embeddings request: one vector for each input, in order. */
export function embeddingsOf(request: EmbeddingsRequest) {
  const inputs = typeof request.input === 'string' ? [request.input] : request.input;
  const tokens = inputs.reduce((sum, input) => sum + wordsOf(input).length, 0);
  return {
    object: 'list',
    data: inputs.map((input, index) => ({
      object: 'embedding',
      index,
      embedding: encode(embeddingOf(input, request.dimensions ?? defaultDimensions), request.encoding_format),
    })),
    model: request.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/**
 * A unit vector that depends on the text alone. The hash of each word selects the coordinates that grow, so that texts
 * with common words have similar vectors.
 */
function embeddingOf(text: string, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const word of wordsOf(text.trim())) {
    const hash = createHash('sha256').update(word.trim().toLowerCase()).digest();
    for (let at = 0; at < 16; at += 4) {
      const place = hash.readUInt32LE(at) % dimensions;
      sums[place] = (sums[place] ?? 0) + ((hash[16 + at] ?? 0) < 128 ? 1 : -1);
    }
  }
  const norm = Math.hypot(...sums);
  if (norm === 0) sums[0] = 1;
  return Float32Array.from(sums, (sum) => (norm === 0 ? sum : sum / norm));
}

function encode(vector: Float32Array, format: 'float' | 'base64' | null | undefined): number[] | string {
  if (format !== 'base64') return [...vector];
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
