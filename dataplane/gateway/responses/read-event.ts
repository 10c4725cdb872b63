import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { collectNested, isFixedKey, writtenAt } from '../judged/collect-texts.ts';
import { isApiWord } from '../judged/covered-texts.ts';
import type { Coverage } from '../judged/route-coverage.ts';
import { isService, isServiceText, isServiceValue } from '../judged/service-value.ts';
import { declaredType, type ObjectNode } from './read-item.ts';
import {
  AnswerReader,
  type AnswerTexts,
  hasDisguised,
  parseAnswer,
  readResponsesAnswer,
} from './read-responses-answer.ts';

/**
 * One event of a streamed response.
 * - `deltas`: the next pieces of growing texts. `isCall`: the text is JSON, which is judged when it is complete.
 * - `wholes`: whole texts; `path` is the path of the growing text that they should equal. `ends`: no piece of the text
 *   follows; otherwise its text begins with the whole text.
 * - `endsBelow`: no piece follows of a text whose path begins with this path.
 * - `others`: further texts of the event, which are judged before it is sent.
 */
export type ResponseEvent =
  | { readonly kind: 'invalid' }
  | { readonly kind: 'failed' }
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly isLast: boolean;
      readonly deltas: readonly Piece[];
      readonly wholes: readonly { readonly path: string; readonly text: string }[];
      readonly ends: boolean;
      readonly endsBelow: string | undefined;
      /** The call of a tool that ends with this event. */
      readonly call: { readonly path: string; readonly text: string } | undefined;
      readonly others: readonly CheckUnit[];
      readonly unjudged: boolean;
    };

type Piece = { readonly path: string; readonly text: string; readonly isCall: boolean };
type Members = ObjectNode;
/** `read`: the members of the event that were read; undefined if all of them were read. */
type Found =
  | (Partial<Extract<ResponseEvent, { kind: 'event' }>> & { readonly read?: readonly string[] })
  | 'invalid'
  | 'failed';

const eventKeys: ReadonlySet<string> = new Set([
  'type',
  'delta',
  'text',
  'refusal',
  'part',
  'item',
  'response',
  'error',
  'arguments',
  'input',
]);
const eventType = /^[a-z][a-z0-9_.]{0,79}$/;
const lastEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
const stateEvents: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  ...lastEvents,
]);
const responseKeyBytes = '"response"'.length;
const role = 'assistant';

/**
 * Reads the data of one event strictly (docs/design/responses.md, "Streams"). A piece may end with half of a surrogate
 * pair.
 */
export function readEvent(data: Buffer, coverage: Coverage): ResponseEvent {
  const { judged } = coverage;
  const root = parseAnswer(data, 'keep')?.root;
  if (root?.kind !== 'object' || hasDisguised(root, eventKeys)) return { kind: 'invalid' };
  // The name of the model in the event is replaced only if its key has no escape.
  if (root.members.some(({ key, keyStart, keyEnd }) => key === 'response' && keyEnd - keyStart !== responseKeyBytes))
    return { kind: 'invalid' };
  const type = declaredType(root);
  if (type === 'error' || type === 'response.failed' || isPresent(member(root, 'error'))) return { kind: 'failed' };
  if (type === undefined || !eventType.test(type) || type.startsWith('response.audio')) return { kind: 'invalid' };
  const found = readBody(root, type, data, coverage);
  if (found === 'invalid' || found === 'failed') return { kind: found };
  const { read, ...event } = found;
  const extra = readExtra(root, data, judged, read);
  const none = { deltas: [], call: undefined, wholes: [], ends: false, endsBelow: undefined };
  return { kind: 'event', type, isLast: lastEvents.has(type), ...none, ...event, ...joined(event, extra) };
}

const bodyMembers: ReadonlySet<string> = new Set([
  ...['delta', 'text', 'refusal', 'part', 'item', 'response', 'arguments', 'input', 'logprobs', 'annotation', 'code'],
  ...['name', 'error'],
]);

/**
 * Members that no event of the API has, the name of a called tool, and members of other events: their texts are judged,
 * because some reader may take them.
 */
function readExtra(
  root: Members,
  data: Buffer,
  judged: ReadonlySet<JudgedTextKind>,
  read: readonly string[] | undefined,
): Further {
  const reader = new AnswerReader(data, judged);
  const misplaced: CheckUnit[] = [];
  for (const one of root.members) {
    const { key, value } = one;
    if (key === 'name' || isService(one, eventServiceMembers)) continue;
    if (key === 'partial_image_b64') reader.readImage(value);
    else if (!bodyMembers.has(key)) reader.readParameter(key, value);
    else if (read?.includes(key) === false) for (const unit of stringsOf(value, data)) misplaced.push(unit);
  }
  const found = withoutTexts(reader.done());
  const others = [...misplaced, ...found.others];
  const name = member(root, 'name');
  if (name?.kind !== 'string' || (!judged.has('names') && isApiWord(name.value))) return { ...found, others };
  return judged.has('names') ? { ...found, others: [...others, ...stringsOf(name, data)] } : { others, unjudged: true };
}

function joined(found: { readonly [K in keyof Further]?: Further[K] | undefined }, extra: Further): Further {
  return { others: [...(found.others ?? []), ...extra.others], unjudged: found.unjudged === true || extra.unjudged };
}

function readBody(root: Members, type: string, data: Buffer, coverage: Coverage): Found {
  const { judged } = coverage;
  if (stateEvents.has(type)) {
    const response = member(root, 'response');
    const read = response === undefined ? undefined : readResponsesAnswer(response, data, coverage);
    if (read === undefined || read === 'failed') return read ?? 'invalid';
    return { ...whole(read), ends: lastEvents.has(type), read: ['response'] };
  }
  const path = pathOf(root);
  if (path === undefined) return 'invalid';
  switch (type) {
    case 'response.output_item.added':
    case 'response.output_item.done':
      return readItemEvent(root, type.endsWith('.done'), path.item, data, judged);
    case 'response.content_part.added':
    case 'response.content_part.done': {
      const part = member(root, 'part');
      const reader = new AnswerReader(data, judged);
      const ends = type.endsWith('.done');
      if (part?.kind === 'object' && declaredType(part) === 'reasoning_text') {
        return readReasoning(root, ends ? 'done' : 'added', `${path.part}.reasoning`, data, judged);
      }
      if (part === undefined || !reader.readPart(part, path.part)) return 'invalid';
      return { ...whole(reader.done()), ends, read: ['part'] };
    }
    case 'response.output_text.delta':
    case 'response.refusal.delta':
    case 'response.output_text.done':
    case 'response.refusal.done': {
      const isText = type.startsWith('response.output_text');
      const textPath = `${path.part}.${isText ? 'text' : 'refusal'}`;
      const reader = new AnswerReader(data, judged);
      const logprobs = member(root, 'logprobs');
      if (isPresent(logprobs) && logprobs !== undefined) reader.readParameter('logprobs', logprobs);
      const key = type.endsWith('.delta') ? 'delta' : isText ? 'text' : 'refusal';
      const text = member(root, key);
      if (text?.kind !== 'string') return 'invalid';
      const rest = { ...withoutTexts(reader.done()), read: [key, 'logprobs'] };
      if (key === 'delta') return { ...rest, deltas: [{ path: textPath, text: text.value, isCall: false }] };
      return { ...rest, wholes: [{ path: textPath, text: text.value }], ends: true };
    }
    default:
      return readOther(root, type, path, data, judged);
  }
}

type Path = { readonly item: number; readonly part: string };

/** Positions of the event; an event without a position is about item 0. */
function pathOf(root: Members): Path | undefined {
  const [item, content, summary] = ['output_index', 'content_index', 'summary_index'].map((key) => member(root, key));
  const at = [item, content ?? summary].map((node) =>
    node === undefined ? 0 : node.kind === 'number' ? node.value : -1,
  );
  const [index = 0, position = 0] = at;
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(position) || index < 0 || position < 0) return undefined;
  return { item: index, part: `${index}.${position}` };
}

const callItems: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'mcp_call']);

function readItemEvent(
  root: Members,
  isDone: boolean,
  index: number,
  data: Buffer,
  judged: ReadonlySet<JudgedTextKind>,
): Found {
  const item = member(root, 'item');
  const reader = new AnswerReader(data, judged);
  if (item?.kind !== 'object' || !reader.readItem(item, index)) return 'invalid';
  const read = whole(reader.done());
  const input = member(item, 'arguments') ?? member(item, 'input');
  const isCall = callItems.has(declaredType(item) ?? '') && input?.kind === 'string';
  const call = isCall && judged.has('toolCalls') ? { path: `${index}.call`, text: input.value } : undefined;
  if (isDone) return { ...read, ends: true, call, read: ['item'] };
  // Clients add the pieces that follow to the input with which a call begins.
  const begin = call === undefined || call.text === '' ? [] : [{ ...call, isCall: true }];
  return { ...read, deltas: begin, read: ['item'] };
}

const callDeltas = /^response\.(?:function_call_arguments|custom_tool_call_input|mcp_call_arguments)\.(delta|done)$/;
const reasoningTexts = /^response\.reasoning_(?:text|summary_text|summary_part|summary|content)\.(delta|done|added)$/;

function readOther(root: Members, type: string, path: Path, data: Buffer, judged: ReadonlySet<JudgedTextKind>): Found {
  const [isCall, callPhase] = callDeltas.exec(type) ?? [];
  if (isCall !== undefined) {
    const key = ['delta', 'arguments', 'input'].find((name) => member(root, name) !== undefined) ?? 'delta';
    const text = member(root, key);
    if (text?.kind !== 'string') return 'invalid';
    const read = [key];
    if (!judged.has('toolCalls')) return { unjudged: text.value !== '', read };
    const call = { path: `${path.item}.call`, text: text.value };
    return callPhase === 'delta' ? { deltas: [{ ...call, isCall: true }], read } : { call, read };
  }
  const [isReasoning, phase] = reasoningTexts.exec(type) ?? [];
  if (isReasoning !== undefined) {
    const name = type.includes('summary') ? 'summary' : 'reasoning';
    return readReasoning(root, phase, `${path.part}.${name}`, data, judged);
  }
  return readUnknown(root, type, path, data, judged);
}

/** A text of reasoning, which is judged only for some bindings. A part ends where the whole text is repeated. */
function readReasoning(
  root: Members,
  phase: string | undefined,
  path: string,
  data: Buffer,
  judged: ReadonlySet<JudgedTextKind>,
): Found {
  const part = member(root, 'part');
  const isDelta = phase === 'delta';
  const isPart = !isDelta && part?.kind === 'object';
  const key = isDelta ? 'delta' : 'text';
  const text = member(isPart ? part : root, key);
  if (text?.kind !== 'string') return 'invalid';
  const reader = new AnswerReader(data, judged);
  const more = isPart ? part.members.filter((one) => one.key !== 'type' && one.key !== 'text') : [];
  for (const one of more) reader.readParameter(one.key, one.value);
  const rest = withoutTexts(reader.done());
  const read = [isPart ? 'part' : key];
  if (!judged.has('reasoning')) return { ...rest, unjudged: rest.unjudged || text.value !== '', read };
  if (isDelta) return { ...rest, deltas: [{ path, text: text.value, isCall: false }], read };
  return { ...rest, wholes: [{ path, text: text.value }], ends: phase === 'done', read };
}

const eventServiceMembers: ReadonlySet<string> = new Set([
  ...['type', 'sequence_number', 'output_index', 'content_index', 'summary_index', 'annotation_index', 'item_id'],
  ...['obfuscation', 'command_index', 'partial_image_index', 'background', 'output_format'],
  ...['quality', 'size', 'status', 'call_id'],
]);
const hostedTools =
  /^response\.(?:code_interpreter_call|file_search_call|web_search_call|mcp_|image_generation_call|shell_call|apply_patch_call|local_shell_call|computer_call|compaction)/;

const endedTypes = /\.(?:done|completed|failed|incomplete)$/;

/**
 * Events of tools that the provider runs are calls of tools; every text of an event of an unknown type is judged. Pieces
 * of a text are judged together, until an event of the same name ends it.
 */
function readUnknown(
  root: Members,
  type: string,
  path: Path,
  data: Buffer,
  judged: ReadonlySet<JudgedTextKind>,
): Found {
  const reader = new AnswerReader(data, judged);
  // Members of the event itself are read with every event.
  const rest = root.members.filter(({ key }) => !eventServiceMembers.has(key) && key !== 'partial_image_b64');
  if (type.startsWith('response.output_text.annotation')) {
    for (const { key, value } of rest) reader.readParameter(key, value);
    return withoutTexts(reader.done());
  }
  const command = member(root, 'command_index');
  const below = `${path.part} ${command?.kind === 'number' ? command.value : 0} ${type.replace(/\.[a-z_]+$/, '')} `;
  const deltas = rest.flatMap(({ key, value }) => (key === 'delta' ? piecesOf(value, below, data) : []));
  const others = rest.flatMap(({ key, value }) => (key === 'delta' ? listedIn(value) : stringsOf(value, data)));
  const endsBelow = endedTypes.test(type) ? below : undefined;
  if (!hostedTools.test(type) || judged.has('toolCalls')) return { deltas, others, endsBelow };
  return { unjudged: others.length > 0 || deltas.length > 0 };
}

/** The texts of a piece, which can have several: `{"stdout": "a", "stderr": "b"}`. */
function piecesOf(node: JsonNode, path: string, data: Buffer): readonly Piece[] {
  if (node.kind === 'string') return node.value === '' ? [] : [{ path, text: node.value, isCall: false }];
  if (node.kind === 'array') return node.items.flatMap((item) => piecesOf(item, path, data));
  if (node.kind === 'object') {
    return node.members.flatMap(({ key, value }) => [
      ...(isServiceText(key) ? [] : [{ path: `${path} keys`, text: `${key} `, isCall: false }]),
      ...piecesOf(value, `${path}.${key}`, data),
    ]);
  }
  return isLong(node) ? [{ path: `${path} numbers`, text: `${writtenAt(data, node)} `, isCall: false }] : [];
}

/**
 * The strings in lists of a piece. A reader can take each of them alone, and a rule for whole words does not find a word to which
 * another string is glued.
 */
function listedIn(node: JsonNode, isListed = false): readonly CheckUnit[] {
  if (node.kind === 'array') return node.items.flatMap((item) => listedIn(item, true));
  if (node.kind === 'object') return node.members.flatMap(({ value }) => listedIn(value, isListed));
  // The window of a piece has the whole of a character that the piece cuts.
  return isListed && node.kind === 'string' && node.value !== '' ? [fixedUnit(node.value.toWellFormed())] : [];
}

function stringsOf(node: JsonNode, data: Buffer): readonly CheckUnit[] {
  if (node.kind === 'array') return node.items.flatMap((item) => stringsOf(item, data));
  if (node.kind === 'object') {
    return node.members.flatMap(({ key, value }) => [
      ...(isFixedKey(key) ? [] : [fixedUnit(key)]),
      ...stringsOf(value, data),
    ]);
  }
  if (node.kind === 'string') return collectNested(node, { role, numbers: true });
  return isLong(node) ? [fixedUnit(writtenAt(data, node))] : [];
}

/** Whether a value is a number whose digits can be those of a payment card. */
function isLong(node: JsonNode): boolean {
  return node.kind === 'number' && !isServiceValue(node);
}

function fixedUnit(content: string): CheckUnit {
  return { role, content, place: { kind: 'fixed' } };
}

function whole({ texts, further }: AnswerTexts): Partial<Extract<ResponseEvent, { kind: 'event' }>> {
  return { ...withoutTexts({ further }), wholes: texts.map(({ path, unit }) => ({ path, text: unit.content })) };
}

type Further = { readonly others: readonly CheckUnit[]; readonly unjudged: boolean };

function withoutTexts({ further }: Pick<AnswerTexts, 'further'>): Further {
  return { others: further.units, unjudged: further.unjudgedAt !== undefined };
}

function isPresent(node: JsonNode | undefined): boolean {
  return node !== undefined && node.kind !== 'null';
}
