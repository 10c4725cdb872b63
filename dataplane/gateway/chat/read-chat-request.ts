import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from './check-unit.ts';
import { chatKeys, chatMembers, findForeignKey } from './known-keys.ts';
import { findWrongKind } from './member-kinds.ts';
import { accept, type ParseResult, type RequestRefusal, refuse } from './parse-result.ts';
import { given, readFlag } from './read-flag.ts';
import { readMessage } from './read-message.ts';

/** The shapes of requests for text that a guarded route allows. */
export type ChatRules = {
  readonly textOnly: boolean;
  /**
   * Whether streams are served; `unjudged`: a rule of the policy cannot judge streams; `refused`: the binding refuses
   * streams.
   */
  readonly streaming: 'served' | 'unjudged' | 'refused';
  readonly extraKeys: ReadonlySet<string>;
};

/** A guarded request for text whose texts can all be checked. */
export type ChatRequest = {
  readonly units: readonly CheckUnit[];
  readonly stream: boolean;
  /** Whether the request requires a JSON answer, so that a masked answer must be JSON, too. */
  readonly structured: boolean;
};

const toolMembers = [
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'web_search_options',
] as const;

/**
 * Reads a guarded chat request strictly: only keys from a closed list with values of their kinds, one answer variant
 * (`gateway:request:n-1-only`), no output in a form that the check does not see, and with the older content profiles
 * only text.
 */
export function readChatRequest(root: JsonNode, rules: ChatRules): ParseResult<ChatRequest> {
  if (root.kind !== 'object') return refuse('invalid_request', null);
  const foreign = findForeignKey(root, chatKeys, rules.extraKeys, '');
  const refusal = foreign ?? findUnsupported(root) ?? findWrongKind(root, chatMembers);
  if (refusal !== undefined) return { ok: false, refusal };
  const stream = readStreamFlag(root, rules, toolMembers);
  if (!stream.ok) return stream;
  const units = readMessages(member(root, 'messages'), rules);
  if (!units.ok) return units;
  return accept({ units: units.value, stream: stream.value, structured: asksForJson(root) });
}

/**
 * Whether a request requires a stream. Refuses a stream that the binding does not serve. With the older content
 * profiles every stream and the members of tools are refused.
 */
export function readStreamFlag(root: JsonNode, rules: ChatRules, toolMembers: readonly string[]): ParseResult<boolean> {
  const stream = readFlag(root, 'stream');
  if (stream === undefined) return refuse('invalid_request', 'stream');
  if (rules.textOnly) {
    const beyond = stream ? 'stream' : toolMembers.find((key) => given(root, key) !== undefined);
    if (beyond !== undefined) return refuse('unsupported_for_profile', beyond);
  }
  if (stream && rules.streaming !== 'served') {
    return refuse(rules.streaming === 'refused' ? 'streaming_refused' : 'unsupported_for_policy', 'stream');
  }
  return accept(stream);
}

function readMessages(node: JsonNode | undefined, rules: ChatRules): ParseResult<readonly CheckUnit[]> {
  if (node?.kind !== 'array' || node.items.length === 0) return refuse('invalid_request', 'messages');
  const units: CheckUnit[] = [];
  for (const [index, item] of node.items.entries()) {
    const message = readMessage(item, `messages[${index}]`, rules);
    if (!message.ok) return message;
    units.push(...message.value);
  }
  return accept(units);
}

function findUnsupported(root: JsonNode): RequestRefusal | undefined {
  const variants = given(root, 'n');
  if (variants !== undefined && !(variants.kind === 'number' && variants.value === 1)) return unsupported('n');
  const logprobs = given(root, 'logprobs');
  if (logprobs !== undefined && !(logprobs.kind === 'boolean' && !logprobs.value)) return unsupported('logprobs');
  const member = (['top_logprobs', 'prediction', 'audio'] as const).find((key) => given(root, key) !== undefined);
  if (member !== undefined) return unsupported(member);
  return asksForTextOnly(given(root, 'modalities')) ? undefined : unsupported('modalities');
}

function unsupported(param: string): RequestRefusal {
  return { code: 'unsupported_value', param };
}

function asksForTextOnly(modalities: JsonNode | undefined): boolean {
  if (modalities === undefined) return true;
  return (
    modalities.kind === 'array' && modalities.items.every((item) => item.kind === 'string' && item.value === 'text')
  );
}

function asksForJson(root: JsonNode): boolean {
  const format = given(root, 'response_format');
  const type = format === undefined ? undefined : member(format, 'type');
  return type?.kind === 'string' && type.value !== 'text';
}
