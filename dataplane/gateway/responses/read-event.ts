import type { JudgedTextKind } from '#contracts/judged-texts';
import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { collectNested } from '../judged/collect-texts.ts';
import { isApiWord } from '../judged/covered-texts.ts';
import type { Coverage } from '../judged/route-coverage.ts';
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
 * - `delta`: the next piece of a growing text. `isCall`: it is JSON, which is judged when it is complete.
 * - `wholes`: complete texts; `path` is that of the growing text which they should equal. `ends`: no piece of them follows.
 * - `others`: further texts of the event, which are judged before it is sent.
 */
export type ResponseEvent =
  | { readonly kind: 'invalid' }
  | { readonly kind: 'failed' }
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly isLast: boolean;
      readonly delta: { readonly path: string; readonly text: string; readonly isCall: boolean } | undefined;
      readonly wholes: readonly { readonly path: string; readonly text: string }[];
      readonly ends: boolean;
      /** The call of a tool that ends with this event. */
      readonly call: { readonly path: string; readonly text: string } | undefined;
      readonly others: readonly CheckUnit[];
      readonly unjudged: boolean;
    };

type Members = ObjectNode;
type Found = Partial<Extract<ResponseEvent, { kind: 'event' }>> | 'invalid' | 'failed';

const eventKeys: ReadonlySet<string> = new Set([
  'type',
  'delta',
  'text',
  'refusal',
  'part',
  'item',
  'response',
  'error',
]);
const eventType = /^[a-z][a-z0-9_.]{0,79}$/;
const lastEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
const stateEvents: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  ...lastEvents,
]);
const role = 'assistant';

/** Reads the data of one event strictly (docs/design/responses.md, "Streams"). Half a surrogate pair may end a piece. */
export function readEvent(data: Buffer, { judged }: Coverage): ResponseEvent {
  const root = parseAnswer(data, 'keep');
  if (root?.kind !== 'object' || hasDisguised(root, eventKeys)) return { kind: 'invalid' };
  const type = declaredType(root);
  if (type === 'error' || type === 'response.failed' || isPresent(member(root, 'error'))) return { kind: 'failed' };
  if (type === undefined || !eventType.test(type) || type.startsWith('response.audio')) return { kind: 'invalid' };
  const found = readBody(root, type, data, judged);
  if (found === 'invalid' || found === 'failed') return { kind: found };
  const extra = readExtra(root, data, judged);
  const none = { delta: undefined, call: undefined, wholes: [], ends: false, others: [], unjudged: false };
  return { kind: 'event', type, isLast: lastEvents.has(type), ...none, ...found, ...joined(found, extra) };
}

const bodyMembers: ReadonlySet<string> = new Set([
  ...['delta', 'text', 'refusal', 'part', 'item', 'response', 'arguments', 'input', 'logprobs', 'annotation', 'code'],
  ...['name', 'error'],
]);

/** Members that no event of the API has, and the name of a called tool. */
function readExtra(root: Members, data: Buffer, judged: ReadonlySet<JudgedTextKind>): Further {
  const reader = new AnswerReader(data, judged);
  for (const { key, value } of root.members) {
    if (!eventServiceMembers.has(key) && !bodyMembers.has(key)) reader.readParameter(key, value);
  }
  const { others, unjudged } = withoutTexts(reader.done());
  const name = member(root, 'name');
  if (name?.kind !== 'string' || (!judged.has('names') && isApiWord(name.value))) return { others, unjudged };
  return judged.has('names') ? { others: [...others, ...stringsOf(name)], unjudged } : { others, unjudged: true };
}

function joined(found: { readonly [K in keyof Further]?: Further[K] | undefined }, extra: Further): Further {
  return { others: [...(found.others ?? []), ...extra.others], unjudged: found.unjudged === true || extra.unjudged };
}

function readBody(root: Members, type: string, data: Buffer, judged: ReadonlySet<JudgedTextKind>): Found {
  if (stateEvents.has(type)) {
    const response = member(root, 'response');
    const read = response === undefined ? undefined : readResponsesAnswer(response, data, judged);
    if (read === undefined || read === 'failed') return read ?? 'invalid';
    return { ...whole(read), ends: lastEvents.has(type) };
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
      if (part?.kind === 'object' && declaredType(part) === 'reasoning_text') {
        return readGrowing(part, 'text', 'whole', { path: `${path.part}.reasoning`, kind: 'reasoning', judged });
      }
      if (part === undefined || !reader.readPart(part, path.part)) return 'invalid';
      return { ...whole(reader.done()), ends: type.endsWith('.done') };
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
      const rest = withoutTexts(reader.done());
      if (key === 'delta') return { ...rest, delta: { path: textPath, text: text.value, isCall: false } };
      return { ...rest, wholes: [{ path: textPath, text: text.value }], ends: true };
    }
    default:
      return readOther(root, type, path, data, judged);
  }
}

type Path = { readonly item: number; readonly part: string };

/** Positions of the event; an event without one is about item 0. */
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
  return { ...read, ends: isDone, call: isDone ? call : undefined };
}

const callDeltas = /^response\.(?:function_call_arguments|custom_tool_call_input|mcp_call_arguments)\.(delta|done)$/;
const reasoningTexts = /^response\.reasoning_(?:text|summary_text|summary_part|summary|content)\.(delta|done|added)$/;

function readOther(root: Members, type: string, path: Path, data: Buffer, judged: ReadonlySet<JudgedTextKind>): Found {
  const [isCall, callPhase] = callDeltas.exec(type) ?? [];
  if (isCall !== undefined) {
    const text = member(root, 'delta') ?? member(root, 'arguments') ?? member(root, 'input');
    if (text?.kind !== 'string') return 'invalid';
    if (!judged.has('toolCalls')) return { unjudged: text.value !== '' };
    const call = { path: `${path.item}.call`, text: text.value };
    return callPhase === 'delta' ? { delta: { ...call, isCall: true } } : { call };
  }
  const [isReasoning, phase] = reasoningTexts.exec(type) ?? [];
  if (isReasoning !== undefined) {
    const name = type.includes('summary') ? 'summary' : 'reasoning';
    const growing = { path: `${path.part}.${name}`, kind: 'reasoning', judged } as const;
    const part = member(root, 'part');
    if (phase === 'delta') return readGrowing(root, 'delta', 'delta', growing);
    return readGrowing(part?.kind === 'object' ? part : root, 'text', 'whole', growing);
  }
  return readUnknown(root, type, data, judged);
}

/** A text of a kind that only some bindings have judged. */
function readGrowing(
  node: Members,
  key: string,
  form: 'delta' | 'whole',
  growing: { readonly path: string; readonly kind: JudgedTextKind; readonly judged: ReadonlySet<JudgedTextKind> },
): Found {
  const text = member(node, key);
  if (text?.kind !== 'string') return 'invalid';
  if (!growing.judged.has(growing.kind)) return { unjudged: text.value !== '' };
  if (form === 'delta') return { delta: { path: growing.path, text: text.value, isCall: false } };
  return { wholes: [{ path: growing.path, text: text.value }] };
}

const eventServiceMembers: ReadonlySet<string> = new Set([
  ...['type', 'sequence_number', 'output_index', 'content_index', 'summary_index', 'annotation_index', 'item_id'],
  ...['obfuscation', 'command_index', 'partial_image_index', 'partial_image_b64', 'background', 'output_format'],
  ...['quality', 'size', 'status', 'call_id'],
]);
const hostedTools =
  /^response\.(?:code_interpreter_call|file_search_call|web_search_call|mcp_|image_generation_call|shell_call|apply_patch_call|local_shell_call|computer_call|compaction)/;

/** Events of tools that the provider runs are calls of tools; every text of an event of an unknown type is judged. */
function readUnknown(root: Members, type: string, data: Buffer, judged: ReadonlySet<JudgedTextKind>): Found {
  const reader = new AnswerReader(data, judged);
  const rest = root.members.filter(({ key }) => !eventServiceMembers.has(key));
  if (type.startsWith('response.output_text.annotation')) {
    for (const { key, value } of rest) reader.readParameter(key, value);
    return withoutTexts(reader.done());
  }
  const others = rest.flatMap(({ value }) => stringsOf(value));
  if (!hostedTools.test(type) || judged.has('toolCalls')) return { others };
  return { unjudged: others.length > 0 };
}

function stringsOf(node: JsonNode): readonly CheckUnit[] {
  if (node.kind === 'array') return node.items.flatMap(stringsOf);
  if (node.kind === 'object') return node.members.flatMap(({ value }) => stringsOf(value));
  return node.kind === 'string' ? collectNested(node, { role, numbers: true }) : [];
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
