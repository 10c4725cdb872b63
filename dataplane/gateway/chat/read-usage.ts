import { z } from 'zod';
import { scanForValue } from './scan-for-value.ts';

/** Tokens that a provider reports for one request. */
export type TokenUsage = { readonly input: number; readonly output: number };

const tokens = z.int().min(0).max(1_000_000_000);
const usageSchema = z.union([
  z
    .object({ prompt_tokens: tokens, completion_tokens: tokens.nullish() })
    .transform(({ prompt_tokens, completion_tokens }) => ({ input: prompt_tokens, output: completion_tokens ?? 0 })),
  z
    .object({ input_tokens: tokens, output_tokens: tokens.nullish() })
    .transform(({ input_tokens, output_tokens }) => ({ input: input_tokens, output: output_tokens ?? 0 })),
]);
const usageKey = Buffer.from('"usage"');

/**
 * The tokens in the member `usage` of an answer or of a frame, in the words of chats or of the Responses API.
 * @param parents the members around it, from the root
 * @returns undefined where there is none, or one in another form
 */
export function readUsage(bytes: Buffer, parents: readonly string[] = []): TokenUsage | undefined {
  if (!bytes.includes(usageKey)) return undefined;
  const path = parents.map((key) => Buffer.from(JSON.stringify(key), 'utf8'));
  const found = scanForValue(bytes, [...path, usageKey]);
  if (found === undefined) return undefined;
  try {
    return usageSchema.safeParse(JSON.parse(bytes.toString('utf8', found.start, found.end))).data;
  } catch {
    // A provider's fault in the JSON of this member: the answer is judged elsewhere, and no tokens are counted.
    return undefined;
  }
}
