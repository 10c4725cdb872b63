import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import { placeOf } from '../chat/parse-result.ts';
import { type Covered, collectorFor, type TextCollector } from './covered-texts.ts';
import { readFileTexts } from './file-texts.ts';

type ObjectNode = JsonNode & { readonly kind: 'object' };

/** Members of a request whose texts the contract judges, and those that hold no text of an author. */
const ownMembers: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'functions',
]);
const toolDefinitionMembers = ['tools', 'functions'] as const;
/** Members in which clients send the reasoning of earlier answers back. */
const replayedReasoning: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking',
]);
const judgedMessageMembers: ReadonlySet<string> = new Set(['role', 'content', 'refusal', 'tool_call_id']);

/**
 * The texts of a chat request beyond those of the contract (docs/design/judged-texts.md): units for the kinds that
 * `judge` of the binding adds, and the place of the first text of another kind. The request has been accepted by
 * `readChatRequest`.
 */
export function readRequestTexts(root: JsonNode, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>): Covered {
  const collector = collectorFor(bytes, judged);
  if (root.kind !== 'object') return collector.covered();
  for (const key of toolDefinitionMembers) collector.take('toolDefinitions', member(root, key), key, 'system', true);
  for (const { key, value } of root.members) {
    if (!ownMembers.has(key)) collector.take('parameters', value, placeOf('', key), 'user', false);
  }
  const messages = member(root, 'messages');
  if (messages?.kind === 'array') {
    for (const [index, message] of messages.items.entries()) {
      if (message.kind === 'object') readMessageTexts(message, `messages[${index}]`, collector);
    }
  }
  return collector.covered();
}

/** The texts of the parameters of a request whose inputs are in the members `inputs`. */
export function readParameterTexts(
  root: JsonNode & { readonly kind: 'object' },
  bytes: Uint8Array,
  judged: ReadonlySet<JudgedTextKind>,
  inputs: ReadonlySet<string>,
): Covered {
  const collector = collectorFor(bytes, judged);
  for (const { key, value } of root.members) {
    if (!inputs.has(key)) collector.take('parameters', value, placeOf('', key), 'user', false);
  }
  return collector.covered();
}

function readMessageTexts(message: ObjectNode, place: string, collector: TextCollector): void {
  const roleNode = member(message, 'role');
  const role = roleNode?.kind === 'string' ? roleNode.value : 'user';
  for (const { key, value } of message.members) {
    const at = placeOf(place, key);
    // Providers return the images of an answer as parts with an address, beside the content.
    if (key === 'content' || key === 'images') readFileTexts(value, at, role, collector);
    else if (judgedMessageMembers.has(key)) continue;
    else if (key === 'name') collector.take('names', value, at, role, false);
    else if (key === 'tool_calls' || key === 'function_call') readToolCalls(value, at, role, collector);
    else if (replayedReasoning.has(key)) collector.take('reasoning', value, at, role, true);
    else collector.take('parameters', value, at, role, true);
  }
}

/** The calls of tools in a message or a delta: names, and arguments that hold JSON. */
export function readToolCalls(node: JsonNode, place: string, role: string, collector: TextCollector): void {
  const calls = node.kind === 'array' ? node.items : [node];
  for (const call of calls) {
    if (call.kind !== 'object') collector.take('toolCalls', call, place, role, true);
    else readToolCall(call, place, role, collector);
  }
}

function readToolCall(call: ObjectNode, place: string, role: string, collector: TextCollector): void {
  for (const { key, value } of call.members) {
    if (key === 'id' || key === 'type' || key === 'index') continue;
    if (key === 'name') collector.take('names', value, `${place}.name`, role, false);
    else if ((key === 'arguments' || key === 'input') && value.kind === 'string') {
      collector.takeNested('toolCalls', value, `${place}.${key}`, role);
    } else if (key === 'function' || key === 'custom') readToolCalls(value, place, role, collector);
    else collector.take('toolCalls', value, place, role, true);
  }
}
