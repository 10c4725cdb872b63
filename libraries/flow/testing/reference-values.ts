import { isDeepStrictEqual } from 'node:util';
import { RE2JS } from 're2js';
import type { FlowErrorCode } from '#contracts/flow-errors';
import type { JsonValue } from '#kit/json/json-value';
import type { ConditionSource } from '../definition/node-parts.ts';

/** The end of a node of the reference. `places` are those where it may begin: branches side by side fail in any order. */
export class ReferenceFault extends Error {
  readonly faults: readonly { readonly code: FlowErrorCode; readonly path?: string | undefined }[];

  constructor(faults: ReferenceFault['faults']) {
    super(faults.map(({ code }) => code).join(', '));
    this.faults = faults;
  }
}

export function fault(code: FlowErrorCode): ReferenceFault {
  return new ReferenceFault([{ code }]);
}

export type Members = { [name: string]: JsonValue };

/** The values of the roots at one place of a run. */
export type Roots = {
  readonly input: JsonValue;
  readonly context: JsonValue;
  readonly state: JsonValue | undefined;
  readonly item: JsonValue | undefined;
  readonly outputs: ReadonlyMap<string, JsonValue>;
};

function find(path: string, roots: Roots): JsonValue | undefined {
  const words = path.replaceAll('[', '.[').split('.');
  const [root = ''] = words;
  const isNode = root === 'nodes';
  const roots_ = { input: roots.input, context: roots.context, state: roots.state, item: roots.item };
  let value: JsonValue | undefined = isNode ? roots.outputs.get(words[1] ?? '') : roots_[root as keyof typeof roots_];
  for (const word of words.slice(isNode ? 3 : 1)) {
    if (value === null || typeof value !== 'object') return undefined;
    const isIndex = word.startsWith('[');
    if (isIndex !== Array.isArray(value)) return undefined;
    const name = isIndex ? word.slice(1, -1) : word;
    value = Object.hasOwn(value, name) ? (value as { [name: string]: JsonValue })[name] : undefined;
  }
  return value;
}

function mustFind(path: string, roots: Roots): JsonValue {
  const value = find(path, roots);
  if (value === undefined) throw fault('path_missing');
  return value;
}

export function evaluated(source: JsonValue, roots: Roots): JsonValue {
  if (typeof source === 'string') return source.startsWith('${') ? mustFind(source.slice(2, -1), roots) : source;
  if (Array.isArray(source)) return source.map((one) => evaluated(one, roots));
  if (source === null || typeof source !== 'object') return source;
  const names = Object.keys(source).sort().join();
  if (names === 'literal') return source['literal'] as JsonValue;
  if (names === 'default,from') {
    const found = find(String(source['from']).slice(2, -1), roots);
    return found === undefined ? (source['default'] as JsonValue) : found;
  }
  return Object.fromEntries(Object.entries(source).map(([name, one]) => [name, evaluated(one, roots)]));
}

export function textOfTemplate(text: string, roots: Roots): string {
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (_, path: string) => {
    const value = mustFind(path.trim(), roots);
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

export function isTrue(source: ConditionSource, roots: Roots): boolean {
  const [operator, operand] = Object.entries(source)[0] as [string, JsonValue];
  const list = operand as readonly ConditionSource[];
  switch (operator) {
    case 'and':
      return list.every((one) => isTrue(one, roots));
    case 'or':
      return list.some((one) => isTrue(one, roots));
    case 'not':
      return !isTrue(operand as ConditionSource, roots);
    case 'exists':
      return find(String(operand).slice(2, -1), roots) !== undefined;
    case 'matches': {
      const [value, pattern] = operand as [JsonValue, string];
      const text = evaluated(value, roots);
      if (typeof text !== 'string') throw fault('type_mismatch');
      return RE2JS.compile(pattern).matcher(text).find();
    }
    default: {
      const [one, other] = (operand as JsonValue[]).map((part) => evaluated(part, roots)) as [JsonValue, JsonValue];
      return isRelated(operator, one, other);
    }
  }
}

function isRelated(operator: string, one: JsonValue, other: JsonValue): boolean {
  if (operator === 'eq') return isDeepStrictEqual(one, other);
  if (operator === 'ne') return !isDeepStrictEqual(one, other);
  if (operator === 'in') {
    if (!Array.isArray(other)) throw fault('type_mismatch');
    return other.some((each) => isDeepStrictEqual(each, one));
  }
  const isOrdered = typeof one === typeof other && (typeof one === 'number' || typeof one === 'string');
  if (!isOrdered || one === null || other === null) throw fault('type_mismatch');
  if (operator === 'lt') return one < other;
  if (operator === 'le') return one <= other;
  return operator === 'gt' ? one > other : one >= other;
}

type Schema = { readonly [keyword: string]: JsonValue };

/** Whether a value matches a schema, which has only the keywords that random flows use. */
export function matchesSchema(schema: JsonValue | undefined, value: JsonValue | undefined): boolean {
  if (schema === undefined) return true;
  const { type, enum: list, properties, required, items, minLength, additionalProperties } = schema as Schema;
  if (value === undefined) return true;
  if (type !== undefined && !isOfType(String(type), value)) return false;
  if (Array.isArray(list) && !list.some((one) => isDeepStrictEqual(one, value))) return false;
  if (typeof value === 'string') return minLength === undefined || [...value].length >= Number(minLength);
  if (Array.isArray(value)) return value.every((one) => matchesSchema(items, one));
  if (value === null || typeof value !== 'object') return true;
  const known = (properties ?? {}) as Schema;
  if (((required ?? []) as string[]).some((name) => !Object.hasOwn(value, name))) return false;
  if (additionalProperties === false && Object.keys(value).some((name) => !Object.hasOwn(known, name))) return false;
  return Object.entries(known).every(([name, one]) => !Object.hasOwn(value, name) || matchesSchema(one, value[name]));
}

function isOfType(type: string, value: JsonValue): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}

export function hasMembers(value: JsonValue): value is Members {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function members(source: { readonly [name: string]: JsonValue | undefined }, roots: Roots): Members {
  const given = Object.entries(source).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, evaluated(value, roots)]));
}

export function mustBeObject(value: JsonValue): Members {
  if (!hasMembers(value)) throw fault('type_mismatch');
  return value;
}

export function scalar(value: JsonValue | undefined): string {
  if (value === undefined || value === null || typeof value === 'object') throw fault('type_mismatch');
  return String(value);
}

/** A path in which each `{name}` is the encoded value of that name. */
export function filledPath(path: string, values: Members): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const segment = scalar(values[name]);
    if (['', '.', '..'].includes(segment)) throw fault('type_mismatch');
    return encodeURIComponent(segment);
  });
}
