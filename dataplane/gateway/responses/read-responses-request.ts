import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { findForeignKey } from '../chat/known-keys.ts';
import { findWrongKind } from '../chat/member-kinds.ts';
import { accept, type ParseResult, placeOf, type RequestRefusal, refuse } from '../chat/parse-result.ts';
import { type ChatRequest, type ChatRules, readStreamFlag } from '../chat/read-chat-request.ts';
import { given, readFlag } from '../chat/read-flag.ts';
import { joinParts, type MessageText, noText, stringText, type TextPart } from '../chat/read-message.ts';
import { type Covered, collectorFor, type TextCollector } from '../judged/covered-texts.ts';
import { declaredNames, requestApiValues, takeDeclaredNames } from '../judged/request-values.ts';
import { isSamplingNumber, isService, isStreamRequest } from '../judged/service-value.ts';
import {
  attachmentPartTypes,
  inputItemTypes,
  inputPartKeys,
  messageItemKeys,
  partTexts,
  responseKeys,
  responseMembers,
} from './known-items.ts';
import { declaredType, disguisedKey, type ObjectNode, readAttachment, readItem } from './read-item.ts';

type Units = ParseResult<readonly CheckUnit[]>;

/** Members with text that only the provider has, or with an answer that is fetched later, which bypasses the checks. */
const storedTexts = ['previous_response_id', 'conversation', 'prompt'] as const;
const toolMembers = ['tools', 'tool_choice', 'parallel_tool_calls', 'max_tool_calls'] as const;

/**
 * Reads a guarded request for a response strictly (docs/design/responses.md): members and types of items from closed
 * lists, no text that only the provider has, and with the older content profiles only text. The texts are the
 * instructions, the messages and the results of tools.
 */
export function readResponsesRequest(root: JsonNode, rules: ChatRules): ParseResult<ChatRequest> {
  if (root.kind !== 'object') return refuse('invalid_request', null);
  const foreign = findForeignKey(root, responseKeys, rules.extraKeys, '');
  const refusal = foreign ?? findUnsupported(root) ?? findWrongKind(root, responseMembers);
  if (refusal !== undefined) return { ok: false, refusal };
  const stream = readStreamFlag(root, rules, toolMembers);
  if (!stream.ok) return stream;
  const instructions = given(root, 'instructions');
  if (instructions !== undefined && instructions.kind !== 'string') return refuse('invalid_request', 'instructions');
  const input = readInput(member(root, 'input'), rules);
  if (!input.ok) return input;
  const units = instructions === undefined ? [] : [{ role: 'system', ...stringText(instructions) }];
  return accept({ units: [...units, ...input.value], stream: stream.value, structured: asksForJson(root) });
}

function findUnsupported(root: JsonNode): RequestRefusal | undefined {
  const background = readFlag(root, 'background');
  if (background !== false) return unsupported('background');
  const stored = storedTexts.find((key) => given(root, key) !== undefined);
  if (stored !== undefined) return unsupported(stored);
  const logprobs = given(root, 'top_logprobs');
  if (logprobs !== undefined && !(logprobs.kind === 'number' && logprobs.value === 0))
    return unsupported('top_logprobs');
  const include = given(root, 'include');
  const asked = include?.kind === 'array' ? include.items : [];
  const isLogprobs = (node: JsonNode): boolean => node.kind === 'string' && node.value.endsWith('.logprobs');
  return asked.some(isLogprobs) ? unsupported('include') : undefined;
}

function unsupported(param: string): RequestRefusal {
  return { code: 'unsupported_value', param };
}

function asksForJson(root: JsonNode): boolean {
  const text = given(root, 'text');
  const format = text === undefined ? undefined : member(text, 'format');
  const type = format === undefined ? undefined : declaredType(format);
  return type !== undefined && type !== 'text';
}

function readInput(node: JsonNode | undefined, rules: ChatRules): Units {
  if (node?.kind === 'string') return accept([{ role: 'user', ...stringText(node) }]);
  if (node?.kind !== 'array' || node.items.length === 0) return refuse('invalid_request', 'input');
  const units: CheckUnit[] = [];
  for (const [index, item] of node.items.entries()) {
    const read = readInputItem(item, `input[${index}]`, rules);
    if (!read.ok) return read;
    for (const unit of read.value) units.push(unit);
  }
  return accept(units);
}

function readInputItem(item: JsonNode, place: string, rules: ChatRules): Units {
  if (item.kind !== 'object') return refuse('invalid_request', place);
  const type = given(item, 'type');
  if (type !== undefined && type.kind !== 'string') return refuse('invalid_request', `${place}.type`);
  if (type === undefined || type.value === 'message') return readMessageItem(item, place, rules);
  if (!inputItemTypes.has(type.value)) return refuse('unsupported_value', `${place}.type`);
  if (rules.textOnly) return refuse('unsupported_for_profile', place);
  const disguised = disguisedKey(item);
  if (disguised !== undefined) return refuse('ambiguous_key', placeOf(place, disguised));
  const units: CheckUnit[] = [];
  const result = (found: readonly CheckUnit[]): void => {
    for (const unit of found) units.push(unit);
  };
  readItem(item, place, 'tool', { result, further: unread });
  return accept(units);
}

function readMessageItem(item: ObjectNode, place: string, rules: ChatRules): Units {
  const foreign = findForeignKey(item, messageItemKeys, rules.extraKeys, place);
  if (foreign !== undefined) return { ok: false, refusal: foreign };
  const role = member(item, 'role');
  if (role?.kind !== 'string' || role.value === '') return refuse('invalid_request', `${place}.role`);
  const text = readContent(given(item, 'content'), `${place}.content`, rules);
  return text.ok ? accept(text.value.map((one) => ({ role: role.value, ...one }))) : text;
}

function readContent(node: JsonNode | undefined, place: string, rules: ChatRules): ParseResult<readonly MessageText[]> {
  if (node === undefined) return accept([noText]);
  if (node.kind === 'string') return accept([stringText(node)]);
  if (node.kind !== 'array') return refuse('invalid_request', place);
  const parts: TextPart[] = [];
  for (const [index, item] of node.items.entries()) {
    const part = readInputPart(item, index, `${place}[${index}]`, rules);
    if (!part.ok) return part;
    if (part.value !== undefined) parts.push(part.value);
  }
  return accept(joinParts(parts, node.items));
}

/** @returns a value of undefined for an attachment */
function readInputPart(
  node: JsonNode,
  index: number,
  place: string,
  rules: ChatRules,
): ParseResult<TextPart | undefined> {
  if (node.kind !== 'object') return refuse('invalid_request', place);
  const foreign = findForeignKey(node, inputPartKeys, rules.extraKeys, place);
  if (foreign !== undefined) return { ok: false, refusal: foreign };
  const type = declaredType(node);
  if (type === undefined) return refuse('invalid_request', `${place}.type`);
  const key = Object.hasOwn(partTexts, type) ? partTexts[type] : undefined;
  const other = (['text', 'refusal'] as const).find((name) => name !== key && member(node, name) !== undefined);
  if (other !== undefined) return refuse('invalid_request', `${place}.${other}`);
  if (key === undefined) {
    if (!attachmentPartTypes.has(type)) return refuse('unsupported_value', `${place}.type`);
    return rules.textOnly ? refuse('unsupported_for_profile', place) : accept(undefined);
  }
  const text = member(node, key);
  if (text?.kind !== 'string') return refuse('invalid_request', `${place}.${key}`);
  return accept({ string: { start: text.start, end: text.end }, text: text.value, index });
}

/**
 * Members of a request whose texts are judged above, or that have their own kind; the name of the model is set by the
 * binding.
 */
const ownMembers: ReadonlySet<string> = new Set(['model', 'input', 'instructions', 'tools']);
const messageOwnMembers: ReadonlySet<string> = new Set(['content', 'name']);
const messageService: ReadonlySet<string> = new Set(['type', 'role', 'id', 'status', 'phase']);
const partOwnMembers: ReadonlySet<string> = new Set(['type', 'text', 'refusal']);

/**
 * The texts of a request beyond those of the contract: the texts of the kinds that `judge` of the binding names, and
 * the place of the first text of any other kind. `readResponsesRequest` must have accepted the request.
 */
export function readResponsesTexts(root: JsonNode, bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>): Covered {
  const input = member(root, 'input');
  const items = input?.kind === 'array' ? input.items : [];
  const names = declaredNames([root, ...items].map((node) => member(node, 'tools')));
  const further = collectorFor(bytes, judged, requestApiValues(names));
  if (root.kind !== 'object') return further.covered();
  further.take('toolDefinitions', member(root, 'tools'), 'tools', 'system', true);
  takeDeclaredNames(names, further);
  for (const one of root.members) {
    const { key, value } = one;
    if (ownMembers.has(key) || isStreamRequest(one)) continue;
    if (!judged.has('parameters') && isSamplingNumber(one)) continue;
    further.take('parameters', value, placeOf('', key), 'user', 'long');
  }
  for (const [index, item] of items.entries()) {
    if (item.kind !== 'object') continue;
    const place = `input[${index}]`;
    const type = given(item, 'type');
    const isMessage = type === undefined || (type.kind === 'string' && type.value === 'message');
    if (isMessage) readMessageTexts(item, place, further);
    else readItem(item, place, 'tool', { result: () => undefined, further });
  }
  return further.covered();
}

function readMessageTexts(item: ObjectNode, place: string, further: TextCollector): void {
  further.takeName(member(item, 'name'), `${place}.name`, 'user');
  for (const one of item.members) {
    if (messageOwnMembers.has(one.key) || isService(one, messageService)) continue;
    further.take('parameters', one.value, placeOf(place, one.key), 'user', true);
  }
  const content = member(item, 'content');
  for (const [position, part] of (content?.kind === 'array' ? content.items : []).entries()) {
    if (part.kind !== 'object') continue;
    const at = `${place}.content[${position}]`;
    if (attachmentPartTypes.has(declaredType(part) ?? '')) readAttachment(part, at, 'user', further);
    else {
      const rest = part.members.filter(({ key }) => !partOwnMembers.has(key));
      for (const { key, value } of rest) further.take('parameters', value, placeOf(at, key), 'user', true);
    }
  }
}

/** Ignores texts that are read elsewhere. */
const unread: TextCollector = {
  take: () => undefined,
  takeName: () => undefined,
  takeNested: () => undefined,
  takeDecoded: () => undefined,
  unreadable: () => undefined,
  covered: () => ({ units: [], unjudgedAt: undefined }),
};
