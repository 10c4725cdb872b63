import type { AttributeCondition, Comparison } from './condition.ts';
import type { AttributeValue } from './ports.ts';

/** Limits of a condition that a client sends. */
export const conditionLimits = {
  /** Nested `and`, `or` and `not` around a comparison, itself included. */
  depth: 8,
  /** `and`, `or`, `not` and comparisons together. */
  parts: 128,
  /** Values of an `in`. */
  values: 1_000,
  /** Code units of a path. */
  pathLength: 256,
  /** Code units of a string value. */
  valueLength: 1_024,
} as const;

type ConditionFault = {
  readonly code: 'unknown_form' | 'bad_path' | 'bad_value' | 'too_deep' | 'too_many' | 'too_long';
  /** Keys and positions from the root of the condition. */
  readonly path: readonly (string | number)[];
  readonly message: string;
};

type ParsedCondition =
  | { readonly kind: 'condition'; readonly condition: AttributeCondition }
  | { readonly kind: 'fault'; readonly fault: ConditionFault };

type Place = ConditionFault['path'];

class Refusal extends Error {
  readonly fault: ConditionFault;

  constructor(code: ConditionFault['code'], path: Place, message: string) {
    super(message);
    this.fault = { code, path, message };
  }
}

/** Reads a condition from parsed JSON, strictly: another key, type or operator is a fault. Messages repeat no value. */
export function parseCondition(json: unknown): ParsedCondition {
  try {
    return { kind: 'condition', condition: new ConditionReader().read(json, [], 1) };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'fault', fault: error.fault };
    throw error;
  }
}

class ConditionReader {
  #parts = 0;

  read(json: unknown, at: Place, depth: number): AttributeCondition {
    this.#parts += 1;
    if (this.#parts > conditionLimits.parts) {
      throw new Refusal('too_many', at, `a condition has at most ${conditionLimits.parts} parts`);
    }
    if (depth > conditionLimits.depth) {
      throw new Refusal('too_deep', at, `a condition is nested at most ${conditionLimits.depth} deep`);
    }
    const object = objectAt(json, at);
    switch (Object.keys(object).toSorted().join()) {
      case 'and':
        return { and: this.#list(object['and'], [...at, 'and'], depth) };
      case 'or':
        return { or: this.#list(object['or'], [...at, 'or'], depth) };
      case 'not':
        return { not: this.read(object['not'], [...at, 'not'], depth + 1) };
      case 'op,path,value':
        return readComparison(object, at);
      default:
        throw new Refusal('unknown_form', at, 'write {and: […]}, {or: […]}, {not: …} or {path, op, value}');
    }
  }

  #list(json: unknown, at: Place, depth: number): readonly AttributeCondition[] {
    if (!Array.isArray(json) || json.length === 0) {
      throw new Refusal('unknown_form', at, 'a list with at least one condition is needed');
    }
    return json.map((part, index) => this.read(part, [...at, index], depth + 1));
  }
}

function objectAt(json: unknown, at: Place): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  throw new Refusal('unknown_form', at, 'a condition is an object');
}

function readComparison(object: Readonly<Record<string, unknown>>, at: Place): Comparison {
  const path = readPath(object['path'], [...at, 'path']);
  const valueAt: Place = [...at, 'value'];
  const value = object['value'];
  switch (object['op']) {
    case 'eq':
    case 'ne':
      return { path, op: object['op'], value: readValue(value, valueAt) };
    case 'gte':
    case 'lte':
      return { path, op: object['op'], value: readOrdered(value, valueAt) };
    case 'contains':
      return { path, op: 'contains', value: readPart(value, valueAt) };
    case 'in':
      return { path, op: 'in', value: readValues(value, valueAt) };
    default:
      throw new Refusal('unknown_form', [...at, 'op'], 'op is eq, ne, gte, lte, contains or in');
  }
}

function readPath(json: unknown, at: Place): string {
  if (typeof json !== 'string' || json === '')
    throw new Refusal('bad_path', at, 'a path is a string that is not empty');
  if (json.length > conditionLimits.pathLength) {
    throw new Refusal('too_long', at, `a path has at most ${conditionLimits.pathLength} characters`);
  }
  return json;
}

function readValue(json: unknown, at: Place): AttributeValue {
  if (typeof json === 'boolean' || (typeof json === 'number' && Number.isFinite(json))) return json;
  if (typeof json !== 'string') throw new Refusal('bad_value', at, 'a value is a string, a number or a boolean');
  if (json.length > conditionLimits.valueLength) {
    throw new Refusal('too_long', at, `a value has at most ${conditionLimits.valueLength} characters`);
  }
  return json;
}

function readOrdered(json: unknown, at: Place): string | number {
  const value = readValue(json, at);
  if (typeof value === 'boolean') throw new Refusal('bad_value', at, 'gte and lte compare a string or a number');
  return value;
}

function readPart(json: unknown, at: Place): string {
  const value = readValue(json, at);
  if (typeof value !== 'string' || value === '') {
    throw new Refusal('bad_value', at, 'contains needs a string that is not empty');
  }
  return value;
}

function readValues(json: unknown, at: Place): readonly AttributeValue[] {
  if (!Array.isArray(json) || json.length === 0) {
    throw new Refusal('bad_value', at, 'in needs a list with at least one value');
  }
  if (json.length > conditionLimits.values) {
    throw new Refusal('too_many', at, `in has at most ${conditionLimits.values} values`);
  }
  return json.map((value, index) => readValue(value, [...at, index]));
}
