import { joinSeams } from '#checks/guard/join-seams';
import { type JsonNode, member, nodeValue } from '#kit/json/parse-tree';
import { hasDisguisedCallKey } from './call-keys.ts';
import type { BodyRange, CheckUnit, TextPlace } from './check-unit.ts';
import { callMembers, findForeignKey, messageKeys, partContentKeys, partKeys } from './known-keys.ts';
import { accept, type ParseResult, refuse } from './parse-result.ts';

/** The contents of messages that a profile and a binding allow. */
type MessageRules = {
  /** The two older content profiles allow text only, no tools. */
  readonly textOnly: boolean;
  readonly extraKeys: ReadonlySet<string>;
};

type ObjectNode = JsonNode & { readonly kind: 'object' };
/** A text of a message and its place; the place is absent if the message has no text. */
export type MessageText = { readonly content: string; readonly place: TextPlace };
/** A text part of a message; `index` is its position in the list of parts. */
export type TextPart = { readonly string: BodyRange; readonly text: string; readonly index: number };

/** Types of parts whose content is no text of the contract. */
const attachmentTypes: ReadonlySet<string> = new Set([
  ...['image_url', 'input_audio', 'file'],
  ...['video_url', 'audio_url', 'thinking', 'reference'],
]);
const toolKeys = ['tool_calls', 'function_call', 'tool_call_id', 'audio'] as const;
const toolRoles: ReadonlySet<string> = new Set(['tool', 'function']);
export const noText: MessageText = { content: '', place: { kind: 'absent' } };

/**
 * The check messages of one chat message (`gateway:extract:text-parts`): one with its text, which may be empty, and a
 * second one with its `refusal` member. Parts of one message are joined by one space, and the places where they are
 * joined are further texts. Names, tool calls and attachments are left out.
 */
export function readMessage(node: JsonNode, place: string, rules: MessageRules): ParseResult<readonly CheckUnit[]> {
  if (node.kind !== 'object') return refuse('invalid_request', place);
  const foreign = findForeignKey(node, messageKeys, rules.extraKeys, place);
  if (foreign !== undefined) return { ok: false, refusal: foreign };
  const role = member(node, 'role');
  if (role?.kind !== 'string' || role.value === '') return refuse('invalid_request', `${place}.role`);
  if (rules.textOnly && (toolRoles.has(role.value) || toolKeys.some((key) => isPresent(member(node, key))))) {
    return refuse('unsupported_for_profile', place);
  }
  for (const key of callMembers) {
    const calls = member(node, key);
    if (calls !== undefined && hasDisguisedCallKey(nodeValue(calls))) return refuse('ambiguous_key', `${place}.${key}`);
  }
  const text = readContent(member(node, 'content'), `${place}.content`, rules);
  if (!text.ok) return text;
  const refusal = readRefusal(node, place);
  if (!refusal.ok) return refusal;
  return accept([...text.value, ...refusal.value].map((one) => ({ role: role.value, ...one })));
}

function readRefusal(node: ObjectNode, place: string): ParseResult<readonly MessageText[]> {
  const refusal = member(node, 'refusal');
  if (refusal === undefined || refusal.kind === 'null') return accept([]);
  if (refusal.kind !== 'string') return refuse('invalid_request', `${place}.refusal`);
  return accept(refusal.value === '' ? [] : [stringText(refusal)]);
}

function readContent(
  node: JsonNode | undefined,
  place: string,
  rules: MessageRules,
): ParseResult<readonly MessageText[]> {
  if (node === undefined || node.kind === 'null') return accept([noText]);
  if (node.kind === 'string') return accept([stringText(node)]);
  if (node.kind !== 'array') return refuse('invalid_request', place);
  const parts: TextPart[] = [];
  for (const [index, item] of node.items.entries()) {
    const part = readPart(item, index, `${place}[${index}]`, rules);
    if (!part.ok) return part;
    if (part.value !== undefined) parts.push(part.value);
  }
  return accept(joinParts(parts, node.items));
}

/** @returns undefined when the content part is an attachment */
function readPart(
  node: JsonNode,
  index: number,
  place: string,
  rules: MessageRules,
): ParseResult<TextPart | undefined> {
  if (node.kind !== 'object') return refuse('invalid_request', place);
  const foreign = findForeignKey(node, partKeys, rules.extraKeys, place);
  if (foreign !== undefined) return { ok: false, refusal: foreign };
  const type = member(node, 'type');
  if (type?.kind !== 'string') return refuse('invalid_request', `${place}.type`);
  const textual = type.value === 'text' || type.value === 'refusal';
  if (!textual && !attachmentTypes.has(type.value)) return refuse('unsupported_value', `${place}.type`);
  if (!textual && rules.textOnly) return refuse('unsupported_for_profile', place);
  const second = node.members.find(({ key }) => partContentKeys.has(key) && key !== type.value);
  if (second !== undefined) return refuse('invalid_request', `${place}.${second.key}`);
  if (!textual) return accept(undefined);
  const text = member(node, type.value);
  if (text?.kind !== 'string') return refuse('invalid_request', `${place}.${type.value}`);
  return accept({ string: { start: text.start, end: text.end }, text: text.value, index });
}

/**
 * The text parts of one message as one text (`gateway:mask:text-parts-merged`), and the texts around the places where
 * they are joined, because a model reads the parts without the space.
 */
export function joinParts(parts: readonly TextPart[], items: readonly JsonNode[]): readonly MessageText[] {
  const [first, ...others] = parts;
  if (first === undefined) return [noText];
  const texts = parts.map(({ text }) => text);
  const removed = others.map(({ index }) => ({ start: endOf(items, index - 1), end: endOf(items, index) }));
  const whole: MessageText = {
    content: texts.join(' '),
    place: { kind: 'parts', string: first.string, others: removed },
  };
  const seam = { kind: 'seam', message: first.string } as const;
  return [whole, ...joinSeams(texts).map((content) => ({ content, place: seam }))];
}

/** Removing a content part other than the first also removes the comma before it. */
function endOf(items: readonly JsonNode[], index: number): number {
  const item = items[index];
  if (item === undefined) throw new Error('a content part is missing from the list of parts in its message');
  return item.end;
}

export function stringText(node: JsonNode & { readonly kind: 'string' }): MessageText {
  return { content: node.value, place: { kind: 'string', string: { start: node.start, end: node.end } } };
}

function isPresent(node: JsonNode | undefined): boolean {
  return node !== undefined && node.kind !== 'null';
}
