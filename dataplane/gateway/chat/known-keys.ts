import type { JsonNode } from '#kit/json/parse-tree';
import { isDisguised } from './fold-key.ts';
import type { MemberKinds } from './member-kinds.ts';
import { placeOf, type RequestRefusal } from './parse-result.ts';

/**
 * Members of a guarded chat request and their kinds: the members of `ChatCompletionCreateParams` of the pinned `openai`
 * package (`known-keys.test.ts` compares them). A member in this list is not necessarily allowed: `readChatRequest`
 * refuses values that request an answer which no check sees.
 */
export const chatMembers = {
  model: ['string'],
  messages: ['array'],
  audio: ['object'],
  frequency_penalty: ['number'],
  function_call: ['string', 'object'],
  functions: ['array'],
  logit_bias: ['object'],
  logprobs: ['boolean'],
  max_completion_tokens: ['number'],
  max_tokens: ['number'],
  metadata: ['object'],
  modalities: ['array'],
  moderation: ['object'],
  n: ['number'],
  parallel_tool_calls: ['boolean'],
  prediction: ['object'],
  presence_penalty: ['number'],
  prompt_cache_key: ['string'],
  prompt_cache_options: ['object'],
  prompt_cache_retention: ['string'],
  reasoning_effort: ['string'],
  response_format: ['object'],
  safety_identifier: ['string'],
  seed: ['number'],
  service_tier: ['string'],
  stop: ['string', 'array'],
  store: ['boolean'],
  stream: ['boolean'],
  stream_options: ['object'],
  temperature: ['number'],
  tool_choice: ['string', 'object'],
  tools: ['array'],
  top_logprobs: ['number'],
  top_p: ['number'],
  user: ['string'],
  verbosity: ['string'],
  web_search_options: ['object'],
} as const satisfies MemberKinds;

export const chatKeys: ReadonlySet<string> = new Set(Object.keys(chatMembers));

/** Members in which providers return the reasoning of an answer, and clients send it back. */
export const reasoningKeys = ['reasoning', 'reasoning_content', 'reasoning_details', 'thinking'] as const;

/** Members with calls of tools. */
export const callMembers = ['tool_calls', 'function_call'] as const;

/** Members of an answer that belong to a separate kind of judged text, apart from the texts of the contract. */
export const answerTextKeys = [...callMembers, ...reasoningKeys] as const;

/**
 * Members of a message of any role: the members of the message parameters of the `openai` package, and the members of
 * answers, which clients append to the conversation unchanged. Only `content` and `refusal` are judged
 * (`gateway:extract:text-parts`, `gateway:extract:reasoning-not-analyzed`).
 */
export const messageKeys: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'audio',
  'annotations',
  // `parsed`: the parsing helper of the official OpenAI client adds this member to an answer message.
  'parsed',
  // Members in which providers with an OpenAI-compatible API return the reasoning and the images of an answer.
  ...reasoningKeys,
  'images',
]);

/**
 * Members that hold the content of a part of a message; a part has the member that its `type` names. vLLM takes
 * `video_url` and `audio_url`; Mistral returns its reasoning as a part `thinking`.
 */
export const partContentKeys: ReadonlySet<string> = new Set([
  ...['text', 'refusal', 'image_url', 'input_audio', 'file'],
  ...['video_url', 'audio_url', 'thinking'],
]);

/**
 * Members that any content part may have: its type, markers for the provider's prompt cache, the end of a reasoning, and the
 * sources that a part `reference` of Mistral names.
 */
const partServiceKeys = ['type', 'cache_control', 'prompt_cache_breakpoint', 'closed', 'reference_ids'] as const;

export const partKeys: ReadonlySet<string> = new Set([...partContentKeys, ...partServiceKeys]);

/** Members of an embeddings request and their kinds, the same as in `EmbeddingCreateParams` of the `openai` package. */
export const embeddingMembers = {
  model: ['string'],
  input: ['string', 'array'],
  dimensions: ['number'],
  encoding_format: ['string'],
  user: ['string'],
} as const satisfies MemberKinds;

export const embeddingKeys: ReadonlySet<string> = new Set(Object.keys(embeddingMembers));

/** Members of a rerank request that the APIs of Cohere (v2) and Jina have in common, and the bound of Cohere. */
export const rerankMembers = {
  model: ['string'],
  query: ['string'],
  documents: ['array'],
  top_n: ['number'],
  return_documents: ['boolean'],
  max_tokens_per_doc: ['number'],
} as const satisfies MemberKinds;

export const rerankKeys: ReadonlySet<string> = new Set(Object.keys(rerankMembers));

/**
 * Finds a request key that is neither in the closed list nor allowed by the binding, or that equals a known key only
 * after case folding. A binding cannot allow the latter.
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
