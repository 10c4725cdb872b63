import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import { reasoningKeys } from '../chat/known-keys.ts';
import { placeOf } from '../chat/parse-result.ts';
import { isFixedKey } from './collect-texts.ts';
import { type Covered, collectorFor, type TextCollector } from './covered-texts.ts';
import { readFileTexts, readImageTexts } from './file-texts.ts';
import { declaredNames, requestApiValues, takeDeclaredNames } from './request-values.ts';
import { isSamplingNumber, isService, isStreamRequest } from './service-value.ts';

type ObjectNode = JsonNode & { readonly kind: 'object' };

/** Members of a request that are read elsewhere, and the name of the model, which is the name that the binding sets. */
const ownMembers: ReadonlySet<string> = new Set(['model', 'messages', 'tools', 'functions']);
const toolDefinitionMembers = ['tools', 'functions'] as const;
/** Members in which clients send the reasoning of earlier answers back. */
const replayedReasoning: ReadonlySet<string> = new Set(reasoningKeys);
const messageService: ReadonlySet<string> = new Set(['role', 'tool_call_id']);
const callService: ReadonlySet<string> = new Set(['id', 'type', 'index']);

/**
 * The texts of a chat request beyond those of the contract (docs/design/judged-texts.md): the texts of the kinds that
 * `judge` of the binding adds, and the place of the first text of another kind. `readChatRequest` must have accepted
 * the request.
 */
export function readRequestTexts(root: JsonNode, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>): Covered {
  const definitions = toolDefinitionMembers.map((key) => member(root, key));
  const names = declaredNames(definitions);
  const collector = collectorFor(bytes, judged, requestApiValues(names));
  if (root.kind !== 'object') return collector.covered();
  for (const key of toolDefinitionMembers) collector.take('toolDefinitions', member(root, key), key, 'system', true);
  takeDeclaredNames(names, collector);
  for (const one of root.members) {
    const { key, value } = one;
    if (ownMembers.has(key) || isStreamRequest(one)) continue;
    if (!judged.has('parameters') && isSamplingNumber(one)) continue;
    collector.take('parameters', value, placeOf('', key), 'user', 'long');
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
  const collector = collectorFor(bytes, judged, requestApiValues(new Set()));
  for (const { key, value } of root.members) {
    if (!inputs.has(key)) collector.take('parameters', value, placeOf('', key), 'user', 'long');
  }
  return collector.covered();
}

function readMessageTexts(message: ObjectNode, place: string, collector: TextCollector): void {
  const roleNode = member(message, 'role');
  const role = roleNode?.kind === 'string' ? roleNode.value : 'user';
  for (const one of message.members) {
    const { key, value } = one;
    const at = placeOf(place, key);
    if (key === 'content') readFileTexts(value, at, role, collector);
    else if (key === 'images') readImageTexts(value, at, role, collector);
    else if (key === 'refusal' || isService(one, messageService)) continue;
    else if (key === 'name') collector.takeName(value, at, role);
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
  for (const one of call.members) {
    const { key, value } = one;
    if (isService(one, callService)) continue;
    if (key === 'name') collector.takeName(value, `${place}.name`, role);
    else if (key === 'arguments' || key === 'input') {
      collector.takeNested('toolCalls', value, `${place}.${key}`, role);
    } else if (key === 'function' || key === 'custom') readToolCalls(value, place, role, collector);
    else {
      if (!isFixedKey(key)) collector.takeDecoded('toolCalls', key, place, role);
      collector.take('toolCalls', value, place, role, true);
    }
  }
}
