import type { JudgedTextKind } from '#contracts/judged-texts';
import { type CountedTree, JsonError, type JsonNode, member, parseCountedTree } from '#kit/json/parse-strict';
import type { BodyRange, CheckUnit } from '../chat/check-unit.ts';
import { isDisguised } from '../chat/fold-key.ts';
import { placeOf } from '../chat/parse-result.ts';
import { maxJsonValues } from '../chat/read-envelope.ts';
import { stringText } from '../chat/read-message.ts';
import { isRenamedModel } from '../judged/answer-texts.ts';
import { isFixedKey, withoutRepetitions } from '../judged/collect-texts.ts';
import { type Covered, collectorFor, isApiWord } from '../judged/covered-texts.ts';
import { readMedia } from '../judged/file-texts.ts';
import { type Coverage, isContractOnly } from '../judged/route-coverage.ts';
import { isService, isServiceValue } from '../judged/service-value.ts';
import { inputPartKeys, messageItemKeys, outputItemTypes, partTexts } from './known-items.ts';
import { declaredType, type ObjectNode, readItem } from './read-item.ts';

/** A text of an answer that the contract requires to be judged. `path` distinguishes the texts of a stream. */
type AnswerText = { readonly path: string; readonly unit: CheckUnit };

/** The texts of an answer, or of a part of it. */
export type AnswerTexts = {
  readonly texts: readonly AnswerText[];
  readonly further: Covered;
  /** Places of members that can repeat a text of the answer, each with an empty value that the API allows there. */
  readonly repeats: readonly (BodyRange & { readonly empty: 'null' | '[]' })[];
};

const role = 'assistant';
const rootKeys: ReadonlySet<string> = new Set(['output', 'output_text', 'error']);
const itemKeys: ReadonlySet<string> = new Set(['type', 'content']);
const partKeys: ReadonlySet<string> = new Set(['type', 'text', 'refusal']);

/**
 * Members of a response that are read elsewhere. The client receives the alias of the binding instead of the name of
 * the model.
 */
const readMembers: ReadonlySet<string> = new Set(['output', 'error']);
/** Members of a response that the API sets, or in which it repeats the request, whose texts were judged on the way in. */
const serviceMembers: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'model', 'usage'],
  ...['incomplete_details', 'instructions', 'metadata', 'tools', 'tool_choice', 'text', 'reasoning', 'user'],
  ...['parallel_tool_calls', 'temperature', 'top_p', 'top_logprobs', 'max_output_tokens', 'max_tool_calls', 'store'],
  ...['background', 'truncation', 'service_tier', 'safety_identifier', 'previous_response_id', 'conversation'],
  ...['prompt', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'prompt_cache_diagnostics'],
  ...['billing', 'moderation', 'image', 'access_programs', 'frequency_penalty', 'presence_penalty'],
  'context_management',
]);
/** Members of a message item without text. */
const messageMembers: ReadonlySet<string> = new Set(['type', 'id', 'role', 'status', 'phase']);

/** Members of an item of an unknown type in which a single word is a value of the API. */
const apiMembers: ReadonlySet<string> = new Set(['type', 'status', 'role', 'phase']);

/**
 * Reads an answer of the Responses API strictly (docs/design/responses.md, "Answers").
 * @returns undefined for anything else, `failed` if the provider reports a failure
 */
export function readResponsesAnswer(
  root: JsonNode,
  bytes: Uint8Array,
  coverage: Coverage,
): AnswerTexts | 'failed' | undefined {
  if (root.kind !== 'object' || hasDisguised(root, rootKeys)) return undefined;
  const error = member(root, 'error');
  if (error !== undefined && error.kind !== 'null') return 'failed';
  const isSent = (key: string, value: JsonNode): boolean =>
    coverage.sent === undefined ? isServiceValue(value) : coverage.sent.has(key, value, bytes);
  const output = member(root, 'output');
  if (output?.kind !== 'array') return undefined;
  const reader = new AnswerReader(bytes, coverage.judged);
  const isContract = isContractOnly(coverage);
  for (const [index, item] of output.items.entries()) if (!reader.readItem(item, index)) return undefined;
  for (const one of root.members) {
    const { key, value } = one;
    if (key === 'output_text') {
      if (!reader.readText(value, 'output_text')) return undefined;
    } else if (readMembers.has(key) || isRenamedModel(one)) continue;
    else if (!serviceMembers.has(key)) reader.readParameter(key, value);
    else if (!isContract && !isSent(key, value)) reader.readRepeated(key, value);
  }
  return reader.done();
}

/** @returns undefined for bytes that are not strict JSON */
export function parseAnswer(
  bytes: Uint8Array,
  unpairedSurrogates: 'refuse' | 'keep' = 'refuse',
): CountedTree | undefined {
  try {
    return parseCountedTree(bytes, { maxValues: maxJsonValues, unpairedSurrogates });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Collects the texts of items and parts. Each method returns false for a form whose texts cannot be determined. */
export class AnswerReader {
  readonly #judged: ReadonlySet<JudgedTextKind>;
  readonly #collector;
  readonly #texts: AnswerText[] = [];
  readonly #results: CheckUnit[] = [];
  readonly #repeats: AnswerTexts['repeats'][number][] = [];
  #unjudgedAt: string | undefined;

  constructor(bytes: Uint8Array, judged: ReadonlySet<JudgedTextKind>) {
    this.#judged = judged;
    this.#collector = collectorFor(bytes, judged);
  }

  readItem(item: JsonNode, index: number): boolean {
    if (item.kind !== 'object' || hasDisguised(item, itemKeys)) return false;
    const type = declaredType(item);
    if (type === undefined) return false;
    if (type === 'message') return this.#readMessage(item, index);
    if (!outputItemTypes.has(type)) {
      this.#readAll(item, `${index}.${type}`);
      return true;
    }
    readItem(item, type, role, {
      result: (units, place) => this.#takeResults(units, place),
      further: { ...this.#collector, unreadable: () => undefined },
    });
    if (type === 'reasoning' && !this.#judged.has('reasoning')) {
      for (const key of ['summary', 'content']) this.#mayRepeat(member(item, key), '[]');
    }
    return true;
  }

  #readMessage(item: ObjectNode, index: number): boolean {
    const content = member(item, 'content');
    for (const one of item.members) {
      if (one.key !== 'content' && !isService(one, messageMembers)) this.readParameter(one.key, one.value);
    }
    if (content?.kind === 'string') return this.readText(content, `${index}.0.text`);
    if (content === undefined || content.kind === 'null') return true;
    if (content.kind !== 'array') return false;
    return content.items.every((part, position) => this.readPart(part, `${index}.${position}`));
  }

  readPart(part: JsonNode, path: string): boolean {
    if (part.kind !== 'object' || hasDisguised(part, partKeys)) return false;
    const type = declaredType(part) ?? '';
    const key = Object.hasOwn(partTexts, type) ? partTexts[type] : undefined;
    if (key === undefined) return false;
    for (const { key: name, value } of part.members) {
      if (name === 'type') continue;
      if (name === 'text' || name === 'refusal') {
        if (!this.readText(value, `${path}.${name}`)) return false;
      } else this.readParameter(name, value);
    }
    return true;
  }

  /** Reads a text that the contract has judged. */
  readText(node: JsonNode, path: string): boolean {
    if (node.kind === 'string') this.#texts.push({ path, unit: { role, ...stringText(node) } });
    return node.kind === 'string' || node.kind === 'null';
  }

  /** Reads a member of the API with a text that the request does not have. A masked answer keeps it. */
  readRepeated(key: string, value: JsonNode): void {
    this.#collector.take('parameters', value, placeOf('', key), role, true);
  }

  /** Reads a member of a part of an answer that the API does not have, or that has another form. */
  readParameter(key: string, value: JsonNode): void {
    if (!isApiKey(key)) this.#collector.takeDecoded('parameters', key, '', role);
    this.#collector.take('parameters', value, placeOf('', key), role, true);
    if (!this.#judged.has('parameters')) this.#mayRepeat(value, value.kind === 'array' ? '[]' : 'null');
  }

  /** Reads a picture in base64. */
  readImage(value: JsonNode): void {
    readMedia('toolCalls', value, '', role, this.#collector);
  }

  done(): AnswerTexts {
    const { units, unjudgedAt } = this.#collector.covered();
    return {
      texts: this.#texts,
      further: {
        units: withoutRepetitions([...units, ...this.#results]),
        unjudgedAt: unjudgedAt ?? this.#unjudgedAt,
      },
      repeats: this.#repeats,
    };
  }

  /** Every string of a value of an unknown form is judged like the answer. */
  #readAll(node: JsonNode, path: string): void {
    if (node.kind === 'string') this.readText(node, `${path}.${this.#texts.length}`);
    else if (node.kind === 'array') for (const item of node.items) this.#readAll(item, path);
    else if (node.kind === 'number') this.#collector.take('parameters', node, path, role, 'long');
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        if (!isFixedKey(key)) this.#collector.takeDecoded('parameters', key, path, role);
        const isWord = apiMembers.has(key) && value.kind === 'string' && isApiWord(value.value);
        if (!isWord) this.#readAll(value, path);
      }
    }
  }

  #takeResults(units: readonly CheckUnit[], place: string): void {
    if (this.#judged.has('toolCalls')) for (const unit of units) this.#results.push(unit);
    else if (units.length > 0) this.#unjudgedAt ??= place;
  }

  #mayRepeat(node: JsonNode | undefined, empty: 'null' | '[]'): void {
    if (node === undefined || node.kind === 'null' || node.kind === 'boolean') return;
    if (node.kind === 'array' && node.items.length === 0) return;
    this.#repeats.push({ start: node.start, end: node.end, empty });
  }
}

/**
 * Whether a key is a name that the API gives to members of messages, parts and annotations. Such a key is not text of
 * an author, and some of these keys are in each event.
 */
function isApiKey(key: string): boolean {
  return key === 'annotation' || isFixedKey(key) || inputPartKeys.has(key) || messageItemKeys.has(key);
}

export function hasDisguised(node: ObjectNode, known: ReadonlySet<string>): boolean {
  return node.members.some(({ key }) => isDisguised(key, known));
}
