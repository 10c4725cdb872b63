import { scanForValue } from './scan-for-value.ts';

/**
 * The tokens of one request, as its provider reports them; `isEstimated`: the provider reported none, and they were
 * estimated from the texts.
 */
export type TokenUsage = { readonly input: number; readonly output: number; readonly isEstimated?: true };

/** Largest token count of one answer that is accepted as plausible. */
const maxTokens = 1_000_000_000;
const usageKey = Buffer.from('"usage"');

/**
 * The tokens in the member `usage` of an answer or of a frame, with the names of the chat API or of the Responses API.
 * @param parents the members that enclose `usage`, from the root
 * @returns undefined if there is no `usage`, or if it has another form
 */
export function readUsage(bytes: Buffer, parents: readonly string[] = []): TokenUsage | undefined {
  if (!bytes.includes(usageKey)) return undefined;
  const path = parents.map((key) => Buffer.from(JSON.stringify(key), 'utf8'));
  const found = scanForValue(bytes, [...path, usageKey]);
  if (found === undefined) return undefined;
  try {
    return usageOf(JSON.parse(bytes.toString('utf8', found.start, found.end)));
  } catch {
    // A provider's fault in the JSON of this member: the answer is judged elsewhere, and no tokens are counted.
    return undefined;
  }
}

/**
 * Every answer is read here, so that no schema library is used. The names of the chat API have priority over those of
 * the Responses API.
 */
function usageOf(value: unknown): TokenUsage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { prompt_tokens, completion_tokens, input_tokens, output_tokens } = value as Readonly<Record<string, unknown>>;
  return pairOf(prompt_tokens, completion_tokens) ?? pairOf(input_tokens, output_tokens);
}

function pairOf(input: unknown, output: unknown): TokenUsage | undefined {
  return isCount(input) && isCount(output ?? 0) ? { input, output: (output ?? 0) as number } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxTokens;
}
