import { type JsonNode, member } from '#kit/json/parse-tree';
import type { ApiValues, TextCollector } from './covered-texts.ts';

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const cacheOptions = ['mode', 'ttl', 'explicit', '30m', '12h'] as const;
const grades = ['low', 'medium', 'high'] as const;

/**
 * The values and the names of members that the API has inside of the members of a request: those of the types of the pinned `openai`
 * package (`request-values.test.ts` compares them). Names of `isFixedKey` are not in it, because they are no text anywhere.
 */
export const packageValues: Readonly<Record<string, readonly string[]>> = {
  access_programs: ['cyber', 'standard', 'daybreak_blue', 'daybreak_red'],
  context_management: ['compact_threshold'],
  encoding_format: ['float', 'base64'],
  function_call: ['none', 'auto'],
  image: ['enabled', 'disabled', 'context_compression', 'auto'],
  include: [
    ...['file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources'],
    ...['message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs'],
    ...['reasoning.encrypted_content', 'message.output_text.logprobs'],
  ],
  modalities: ['text', 'audio'],
  moderation: ['model', 'policy', 'input', 'output', 'mode', 'score', 'block'],
  prompt_cache_options: [...cacheOptions, 'implicit', 'comparison_response_id', 'prewarm'],
  prompt_cache_retention: ['in_memory', '24h'],
  reasoning: [
    ...efforts,
    ...['auto', 'concise', 'detailed', 'current_turn', 'all_turns', 'standard', 'pro'],
    ...['context', 'effort', 'generate_summary', 'mode', 'summary'],
  ],
  reasoning_effort: efforts,
  response_format: ['text', 'json_schema', 'json_object'],
  service_tier: ['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'],
  stream_options: ['include_obfuscation', 'include_usage'],
  text: [...grades, 'verbosity', 'text', 'json_schema', 'json_object'],
  tool_choice: [
    ...['none', 'auto', 'required', 'allowed_tools', 'mode', 'tools', 'function', 'custom', 'server_label'],
    ...['file_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'computer', 'computer_use_preview'],
    ...['computer_use', 'image_generation', 'code_interpreter', 'mcp', 'programmatic_tool_calling', 'apply_patch'],
    'shell',
  ],
  truncation: ['auto', 'disabled'],
  verbosity: grades,
  web_search_options: [
    ...[...grades, 'search_context_size', 'user_location', 'approximate'],
    ...['city', 'country', 'region', 'timezone'],
  ],
};

/** Values of members that the package has in messages and parts, or as a plain string, and of members of other APIs of this form. */
const otherValues: Readonly<Record<string, readonly string[]>> = {
  context_management: ['compaction'],
  cache_control: ['ephemeral', 'ttl', '5m', '1h'],
  chat_template_kwargs: ['enable_thinking', 'thinking'],
  image_url: ['detail', 'low', 'high', 'auto', 'original'],
  input_image: ['detail', 'low', 'high', 'auto', 'original'],
  input_type: ['query', 'passage', 'document', 'search_query', 'search_document', 'classification', 'clustering'],
  prompt_cache_breakpoint: cacheOptions,
  reasoning: ['enabled', 'exclude', 'max_tokens'],
  thinking: ['enabled', 'disabled', 'auto', 'budget_tokens'],
  tool_choice: ['any'],
  reasoning_effort: ['default'],
};

const requestValues: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...Object.keys(packageValues), ...Object.keys(otherValues)].map((key) => [
    key,
    new Set([...(packageValues[key] ?? []), ...(otherValues[key] ?? [])]),
  ]),
);

/** Members whose value can be the name of a declared tool. */
const toolMembers: ReadonlySet<string> = new Set(['tool_choice', 'function_call']);

/**
 * In a request a value of the API is one of a closed list, because words of a text can be values of an object or names of its members.
 * The name of a called tool is no text where the request declares the tool.
 * @param names those of `declaredNames`, which are judged with the definitions
 */
export function requestApiValues(names: ReadonlySet<string>): ApiValues {
  return {
    isValue(place, texts) {
      const [key = ''] = /\w+$/.exec(place) ?? [];
      const known = requestValues.get(key);
      return texts.every((text) => known?.has(text) === true || (toolMembers.has(key) && names.has(text)));
    },
    isName: (name) => names.has(name),
    isWord: () => false,
  };
}

/** The names and types of the tools that lists of definitions declare, and the tools of a server that they allow. */
export function declaredNames(definitions: readonly (JsonNode | undefined)[]): ReadonlySet<string> {
  return new Set(definitions.flatMap((node) => (node === undefined ? [] : namesIn(node))));
}

/**
 * Takes the declared names as texts of their own, of which a mask has no place: the same name elsewhere in the request would keep it.
 */
export function takeDeclaredNames(names: ReadonlySet<string>, collector: TextCollector): void {
  for (const name of names) collector.takeDecoded('toolDefinitions', name, 'tools', 'system');
}

/** The names of the tools in a list of definitions, also of those in a namespace. */
function namesIn(tools: JsonNode): readonly string[] {
  if (tools.kind !== 'array') return [];
  return tools.items.flatMap((tool) => {
    const inner = member(tool, 'tools');
    return [
      ...[tool, member(tool, 'function'), member(tool, 'custom')].flatMap(namesOf),
      ...(inner === undefined ? [] : namesIn(inner)),
      ...stringsOf(member(tool, 'allowed_tools')),
    ];
  });
}

function namesOf(node: JsonNode | undefined): readonly string[] {
  if (node === undefined) return [];
  return ['name', 'server_label', 'type'].flatMap((key) => stringsOf(member(node, key)));
}

/** The string, or those of a list or of the lists in an object. */
function stringsOf(node: JsonNode | undefined): readonly string[] {
  if (node?.kind === 'string') return [node.value];
  if (node?.kind === 'array') return node.items.flatMap((item) => (item.kind === 'string' ? [item.value] : []));
  return node?.kind === 'object'
    ? node.members.flatMap(({ value }) => (value.kind === 'array' ? stringsOf(value) : []))
    : [];
}
