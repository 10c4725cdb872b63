import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { JsonError, type JsonNode, parseCountedTree } from '#kit/json/parse-strict';
import type { BodyRange, CheckUnit, TextPlace } from '../chat/check-unit.ts';
import { maxJsonValues } from '../chat/read-envelope.ts';
import { isServiceValue } from './service-value.ts';

/** The parts of a JSON value that are judged in addition to its strings. */
type CollectOptions = {
  /** The role of the check messages, which has no meaning for the runtime. */
  readonly role: string;
  /**
   * Whether numbers are judged as written, because their digits can be those of a payment card. `long`: only numbers
   * that are long enough for a card.
   */
  readonly numbers: boolean | 'long';
  /** Leaves out strings and keys that are written without an escape. */
  readonly onlyEscaped?: boolean;
};

/**
 * Keys that are words of JSON Schema and of the API. They are the same in each request, so they contain no text of an
 * author.
 */
const fixedKeys: ReadonlySet<string> = new Set([
  ...[
    'type',
    'function',
    'name',
    'description',
    'parameters',
    'strict',
    'custom',
    'format',
    'arguments',
    'id',
    'index',
  ],
  ...['properties', 'required', 'items', 'enum', 'const', 'default', 'title', 'examples', 'anyOf', 'oneOf', 'allOf'],
  ...['not', 'additionalProperties', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems'],
  ...['$ref', '$defs', 'definitions', '$schema', 'json_schema', 'schema', 'text', 'url', 'url_citation', 'token'],
  ...['logprob', 'bytes', 'top_logprobs', 'content', 'refusal', 'start_index', 'end_index'],
]);

/** Whether a key is a word of JSON Schema or of the API. */
export function isFixedKey(key: string): boolean {
  return key === '' || fixedKeys.has(key);
}

/** Every string of a JSON value, every key that an author chose, and its numbers where they are judged. */
export function collectTexts(node: JsonNode, bytes: Uint8Array, options: CollectOptions): readonly CheckUnit[] {
  const units: CheckUnit[] = [];
  visit(node, bytes, options, units, (range) => ({ kind: 'string', string: range }));
  return units;
}

/**
 * How many more values may be read from JSON inside of strings of one body. Text beyond this number is judged as text
 * that is not JSON.
 */
type ValueBudget = { left: number };

export function newBudget(): ValueBudget {
  return { left: maxJsonValues };
}

/**
 * The texts of a string that holds JSON, such as the arguments of a tool call: the texts of the JSON value, so that
 * escapes do not hide a word, and the texts of JSON inside of these, down to the third level. A string that is not JSON
 * is judged as written, and once more without its escapes, because some programs accept invalid JSON.
 */
export function collectNested(
  node: JsonNode & { readonly kind: 'string' },
  options: CollectOptions,
  budget = newBudget(),
): readonly CheckUnit[] {
  if (node.value === '') return [];
  const { role } = options;
  const outer = { start: node.start, end: node.end };
  const text = Buffer.from(node.value, 'utf8');
  const inner = parseNested(text, budget);
  if (inner === undefined) {
    const written: CheckUnit = { role, content: node.value, place: { kind: 'string', string: outer } };
    return [written, ...plainTexts(written, 1 + levelsBelow)];
  }
  const units: CheckUnit[] = [];
  visit(inner, text, options, units, (string) => ({ kind: 'nested', outer, text, string }));
  return units.flatMap((unit) => [unit, ...textsBelow(unit, levelsBelow, budget)]);
}

/** The remaining number of times that JSON inside a string of JSON is read. */
const levelsBelow = 2;

/**
 * Whether a text may be a JSON object, list or string in which an escape hides a word. A text without escapes is judged
 * as written.
 */
export function mayHideTexts(text: string): boolean {
  return /^\s*[[{"]/.test(text) && text.includes('\\');
}

/**
 * The strings and keys with escapes in the JSON that a text contains. Strings without an escape are judged as part of
 * the text.
 */
function textsBelow(of: CheckUnit, levels: number, budget: ValueBudget): readonly CheckUnit[] {
  const { role, content } = of;
  if (levels === 0 || !mayHideTexts(content) || jsonOrUndefined(content) === undefined) return [];
  const text = Buffer.from(content, 'utf8');
  const inner = parseNested(text, budget);
  if (inner === undefined) return plainTexts(of, levels);
  const units: CheckUnit[] = [];
  const options = { role, numbers: false, onlyEscaped: true };
  visit(inner, text, options, units, (string) => ({ kind: 'within', of, text, string }));
  return units.flatMap((unit) => [unit, ...textsBelow(unit, levels - 1, budget)]);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** Decodes the escapes of JSON strings wherever they are. An escaped half of a surrogate pair becomes U+FFFD. */
function withoutEscapes(text: string): string {
  return text
    .replace(/\\(?:u([0-9A-Fa-f]{4})|([^u]))/g, (_, code: string | undefined, letter: string | undefined) =>
      code === undefined ? (escapes[letter ?? ''] ?? letter ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
    )
    .toWellFormed();
}

/** A text without its escapes, which are removed again at each level of JSON that may be in it. */
function plainTexts({ role, content }: CheckUnit, levels: number): readonly CheckUnit[] {
  const plain = withoutEscapes(content);
  if (levels === 0 || plain === content) return [];
  const unit: CheckUnit = { role, content: plain, place: fixed };
  return [unit, ...plainTexts(unit, levels - 1)];
}

function parseNested(text: Buffer, budget: ValueBudget): JsonNode | undefined {
  try {
    const { root, values } = parseCountedTree(text, { maxValues: budget.left });
    budget.left -= values;
    return root;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

const backslash = 0x5c;

function visit(
  node: JsonNode,
  bytes: Uint8Array,
  options: CollectOptions,
  units: CheckUnit[],
  placeOf: (range: BodyRange) => TextPlace,
): void {
  const { role } = options;
  const isTaken = (start: number, end: number): boolean =>
    options.onlyEscaped !== true || bytes.subarray(start, end).includes(backslash);
  switch (node.kind) {
    case 'string':
      if (node.value !== '' && isTaken(node.start, node.end))
        units.push({ role, content: node.value, place: placeOf({ start: node.start, end: node.end }) });
      return;
    case 'number':
      if (options.numbers === true || (options.numbers === 'long' && !isServiceValue(node)))
        units.push({ role, content: writtenAt(bytes, node), place: fixed });
      return;
    case 'array':
      for (const item of node.items) visit(item, bytes, options, units, placeOf);
      return;
    case 'object':
      for (const { key, keyStart, keyEnd, value } of node.members) {
        if (!isFixedKey(key) && isTaken(keyStart, keyEnd)) units.push({ role, content: key, place: fixed });
        visit(value, bytes, options, units, placeOf);
      }
      return;
    case 'boolean':
    case 'null':
      return;
  }
}

/** A number as it is written, with all of its digits. */
export function writtenAt(bytes: Uint8Array, { start, end }: BodyRange): string {
  return Buffer.from(bytes.subarray(start, end)).toString('latin1');
}

const fixed: TextPlace = { kind: 'fixed' };

/** Removes repeated names and numbers, which are judged once. A text with its own place is judged at each place. */
export function withoutRepetitions(units: readonly CheckUnit[]): readonly CheckUnit[] {
  const seen = new Set<string>();
  return units.filter(({ content, place }) => {
    if (place.kind !== 'fixed') return true;
    if (seen.has(content)) return false;
    seen.add(content);
    return true;
  });
}
