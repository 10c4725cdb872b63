import type { MemberKinds } from '../chat/member-kinds.ts';

/**
 * Members of a guarded request for a response and their kinds, the same as in `ResponseCreateParams` of the pinned
 * `openai` package (`known-items.test.ts` compares them). Values that contain text which no check sees are refused.
 */
export const responseMembers = {
  access_programs: ['object'],
  background: ['boolean'],
  context_management: ['array'],
  conversation: ['string', 'object'],
  image: ['object'],
  include: ['array'],
  input: ['string', 'array'],
  instructions: ['string'],
  max_output_tokens: ['number'],
  max_tool_calls: ['number'],
  metadata: ['object'],
  model: ['string'],
  moderation: ['object'],
  parallel_tool_calls: ['boolean'],
  previous_response_id: ['string'],
  prompt: ['object'],
  prompt_cache_key: ['string'],
  prompt_cache_options: ['object'],
  prompt_cache_retention: ['string'],
  reasoning: ['object'],
  safety_identifier: ['string'],
  service_tier: ['string'],
  store: ['boolean'],
  stream: ['boolean'],
  stream_options: ['object'],
  temperature: ['number'],
  text: ['object'],
  tool_choice: ['string', 'object'],
  tools: ['array'],
  top_logprobs: ['number'],
  top_p: ['number'],
  truncation: ['string'],
  user: ['string'],
} as const satisfies MemberKinds;

export const responseKeys: ReadonlySet<string> = new Set(Object.keys(responseMembers));

/**
 * Types of items, besides `message`, in the input of a guarded request: the types of `ResponseInputItem` without
 * `item_reference`, whose text only the provider has.
 */
export const inputItemTypes: ReadonlySet<string> = new Set([
  'additional_tools',
  'apply_patch_call',
  'apply_patch_call_output',
  'code_interpreter_call',
  'compaction',
  'compaction_trigger',
  'computer_call',
  'computer_call_output',
  'configuration_update',
  'custom_tool_call',
  'custom_tool_call_output',
  'file_search_call',
  'function_call',
  'function_call_output',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'mcp_list_tools',
  'program',
  'program_output',
  'reasoning',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
]);

/** Types of items in an answer, `message` apart. The texts of an item of any other type are judged like an answer. */
export const outputItemTypes: ReadonlySet<string> = new Set(
  [...inputItemTypes].filter((type) => type !== 'compaction_trigger' && type !== 'configuration_update'),
);

/** Members of a message in the input. */
export const messageItemKeys: ReadonlySet<string> = new Set([
  'type',
  'role',
  'content',
  'id',
  'status',
  'phase',
  'name',
]);

/** The member that holds the text of a part, by the type of the part. */
export const partTexts: Readonly<Record<string, 'text' | 'refusal'>> = {
  input_text: 'text',
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
};

/** Types of parts that hold an attachment. */
export const attachmentPartTypes: ReadonlySet<string> = new Set(['input_image', 'input_file', 'input_audio']);

/** Members of the parts of a message in the input. */
export const inputPartKeys: ReadonlySet<string> = new Set([
  'type',
  'text',
  'refusal',
  'annotations',
  'logprobs',
  // The parsing helper of the official client adds this member to the parts of an answer.
  'parsed',
  'detail',
  'file_id',
  'image_url',
  'file_data',
  'file_url',
  'filename',
  'input_audio',
  'prompt_cache_breakpoint',
]);
