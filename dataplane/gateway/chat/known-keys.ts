import type { JsonNode } from '#kit/json/parse-tree';
import { isDisguised } from './fold-key.ts';
import { placeOf, type RequestRefusal } from './parse-result.ts';

/** Members of a chat request that may reach a provider through a guarded route (the OpenAI chat completions API). */
export const chatKeys: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'audio',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'metadata',
  'modalities',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
  'web_search_options',
]);

/** Members of a message of any role. */
export const messageKeys: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'audio',
]);

/** Members of a part of a message's content. */
export const partKeys: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'image_url', 'input_audio', 'file']);

/** Members of an embeddings request. */
export const embeddingKeys: ReadonlySet<string> = new Set(['model', 'input', 'dimensions', 'encoding_format', 'user']);

/**
 * Finds a key that is neither known nor listed on the binding, or that equals a known one only after case folding;
 * listing such a key on the binding does not help.
 */
export function findForeignKey(
  node: JsonNode & { readonly kind: 'object' },
  known: ReadonlySet<string>,
  extra: ReadonlySet<string>,
  place: string,
): RequestRefusal | undefined {
  for (const { key } of node.members) {
    if (known.has(key)) continue;
    if (isDisguised(key, known)) return { code: 'ambiguous_key', param: placeOf(place, key) };
    if (!extra.has(key)) return { code: 'unknown_key', param: placeOf(place, key) };
  }
  return undefined;
}
