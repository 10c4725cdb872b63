import { joinSeams } from '#checks/guard/join-seams';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { foldKey, isDisguised } from '../chat/fold-key.ts';
import { placeOf } from '../chat/parse-result.ts';
import { stringText } from '../chat/read-message.ts';
import { isFixedKey } from '../judged/collect-texts.ts';
import type { TextCollector } from '../judged/covered-texts.ts';
import { isElsewhere, readAddress, readAudio, readFileData, readMedia, textInBase64 } from '../judged/file-texts.ts';
import { isService, isServiceObject, isServiceValue } from '../judged/service-value.ts';
import { inputPartKeys } from './known-items.ts';

export type ObjectNode = JsonNode & { readonly kind: 'object' };
type ArrayNode = JsonNode & { readonly kind: 'array' };

/** Receives the texts of an item. */
type ItemSink = {
  /** A result of a tool, which is part of the input check (`gateway:extract:tool-results-checked`). */
  readonly result: (units: readonly CheckUnit[], place: string) => void;
  readonly further: TextCollector;
};

/** Members of an item that the API sets, or that are references. */
const serviceMembers: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'caller',
  'caller_id',
  'status',
  'role',
  'phase',
  'async',
  'execution',
  'container_id',
  'created_by',
  'approval_request_id',
  'max_output_length',
  'fingerprint',
]);
/** Members of the caller of a tool. */
const callerMembers: ReadonlySet<string> = new Set(['type', 'caller_id']);
const resultMembers: ReadonlySet<string> = new Set(['output', 'outputs', 'result', 'results', 'error']);
const nameMembers: ReadonlySet<string> = new Set(['name', 'namespace', 'server_label']);
const nestedMembers: ReadonlySet<string> = new Set(['arguments', 'input']);
const itemMembers: ReadonlySet<string> = new Set([
  ...serviceMembers,
  ...resultMembers,
  ...nameMembers,
  ...nestedMembers,
  ...['tools', 'content', 'summary', 'encrypted_content'],
]);

/** Names of the other members of items in the API. */
const payloadMembers: ReadonlySet<string> = new Set([
  ...['acknowledged_safety_checks', 'action', 'actions', 'approve', 'background', 'code', 'environment', 'operation'],
  ...['output_format', 'pending_safety_checks', 'quality', 'queries', 'reason', 'reasoning', 'revised_prompt', 'size'],
  ...['svg_usage', 'text'],
]);

/** A key of an item that case-insensitive readers take for a key that decides the meaning of the item. */
export function disguisedKey(item: ObjectNode): string | undefined {
  return item.members.find(({ key }) => isDisguised(key, itemMembers))?.key;
}

/**
 * Sorts the texts of an item of the Responses API that is not a message (docs/design/responses.md, "Items"). Results of
 * tools are added to `result`, all other texts to the collector under their kind.
 */
export function readItem(item: ObjectNode, place: string, role: string, sink: ItemSink): void {
  const type = declaredType(item);
  const isReasoning = type === 'reasoning';
  const { further } = sink;
  for (const one of item.members) {
    const { key, value } = one;
    const at = placeOf(place, key);
    if (isService(one, serviceMembers) || isServiceObject(one, 'caller', callerMembers)) continue;
    if (!itemMembers.has(key) && !payloadMembers.has(key)) further.takeDecoded('toolCalls', key, at, role);
    if (serviceMembers.has(key)) further.take('parameters', value, at, role, true);
    else if (key === 'result' && type === 'image_generation_call') readMedia('toolCalls', value, at, role, further);
    else if (key === 'encrypted_content') readEncrypted(value, at, role, further);
    else if (resultMembers.has(key) || (key === 'content' && !isReasoning))
      sink.result(readResult(value, at, role, further), at);
    else if (key === 'tools') further.take('toolDefinitions', value, at, role, true);
    else if (nameMembers.has(key)) further.takeName(value, at, role);
    else if (nestedMembers.has(key)) further.takeNested(isReasoning ? 'reasoning' : 'toolCalls', value, at, role);
    else further.take(isReasoning ? 'reasoning' : 'toolCalls', value, at, role, true);
  }
}

/** Encrypted reasoning is base64 that cannot be read. Any other value of this member is read as reasoning. */
function readEncrypted(node: JsonNode, place: string, role: string, further: TextCollector): void {
  readMedia('reasoning', node, place, role, further);
  if (node.kind === 'string' && node.value !== '' && textInBase64(node) === undefined) further.unreadable(place);
}

export function declaredType(node: JsonNode): string | undefined {
  const type = member(node, 'type');
  return type?.kind === 'string' ? type.value : undefined;
}

const resultServiceMembers: ReadonlySet<string> = new Set(['type', 'id', 'status', 'file_id', 'detail']);
const attachments: ReadonlySet<string> = new Set(['input_image', 'input_file', 'computer_screenshot', 'image']);
/** Members of an attachment that hold a text of the result. */
const textMembers: ReadonlySet<string> = new Set(['text', 'refusal', 'content']);
/** Names that the API gives to the members of results. */
const resultNames: ReadonlySet<string> = new Set([
  ...['stdout', 'stderr', 'outcome', 'exit_code', 'logs', 'url', 'filename', 'score', 'attributes', 'code', 'message'],
  ...['annotations', 'created_by', 'prompt_cache_breakpoint'],
]);

/**
 * Reads every string and name in a result of a tool. Attachments and long numbers in the result are added to the
 * collector.
 */
function readResult(node: JsonNode, place: string, role: string, further: TextCollector): readonly CheckUnit[] {
  switch (node.kind) {
    case 'string':
      return node.value === '' ? [] : [{ role, ...stringText(node) }];
    case 'array': {
      const units = node.items.flatMap((item) => readResult(item, place, role, further));
      return [...units, ...seamsOf(node, role, units)];
    }
    case 'object': {
      if (attachments.has(declaredType(node) ?? '')) {
        readAttachment(node, place, role, further, textMembers);
        return node.members.flatMap(({ key, value }) => [
          ...(inputPartKeys.has(key) ? [] : nameOf(key, role)),
          ...(textMembers.has(key) ? readResult(value, place, role, further) : []),
        ]);
      }
      const members = node.members.filter((one) => !isService(one, resultServiceMembers));
      return members.flatMap(({ key, value }) => [...nameOf(key, role), ...readResult(value, place, role, further)]);
    }
    case 'number':
      // The contract requires that the text of a result is judged. A long number can be that of a payment card.
      if (!isServiceValue(node)) further.take('toolCalls', node, place, role, true);
      return [];
    case 'boolean':
    case 'null':
      return [];
  }
}

/** The texts around the places where a model reads two text parts of a result as one text. */
function seamsOf({ items }: ArrayNode, role: string, units: readonly CheckUnit[]): readonly CheckUnit[] {
  const starts = new Set(items.flatMap((item) => (item.kind === 'object' ? (member(item, 'text')?.start ?? []) : [])));
  const parts = units.filter(({ place }) => place.kind === 'string' && starts.has(place.string.start));
  const texts = parts.map(({ content }) => content);
  return joinSeams(texts).map((content) => ({ role, content, place: { kind: 'joint', parts } }));
}

function nameOf(key: string, role: string): readonly CheckUnit[] {
  return isFixedKey(key) || resultNames.has(key) ? [] : [{ role, content: key, place: { kind: 'fixed' } }];
}

const addressMembers: ReadonlySet<string> = new Set(['image_url', 'file_url', 'url']);
const attachmentService: ReadonlySet<string> = new Set(['type', 'detail', 'file_id']);

const noMembers: ReadonlySet<string> = new Set();

/**
 * The texts of an attachment: addresses, names, and text in `data:` URLs. A document that the provider stores or fetches cannot be
 * judged.
 * @param readElsewhere members whose texts are read elsewhere
 */
export function readAttachment(
  part: ObjectNode,
  place: string,
  role: string,
  further: TextCollector,
  readElsewhere: ReadonlySet<string> = noMembers,
): void {
  const isDocument = declaredType(part) === 'input_file';
  for (const one of part.members) {
    const { key, value } = one;
    if (readElsewhere.has(key)) continue;
    if (isDocument && isElsewhere(one)) further.unreadable(place);
    if (isService(one, attachmentService)) continue;
    if (key === 'input_audio') readAudio(value, place, role, further);
    else if (foldKey(key) === 'file_data') readFileData(value, place, role, further);
    else if (addressMembers.has(key)) readAddress(value, place, role, further);
    else further.take('files', value, place, role, 'long');
  }
}
