import { z } from 'zod';
import type { AttributeCondition } from '#search/condition';
import type { AttributeValue } from '#search/ports';
import { lowerPrefix } from './memory-entry.ts';
import { innerPath, metadataRoot, readMetadataPath } from './metadata-path.ts';

/** Limits of filters that a client sends. */
const filterLimits = { depth: 8, parts: 128, values: 1_000, valueLength: 1_024, pathLength: 256 } as const;

type FilterFault = { readonly path: readonly (string | number)[]; readonly message: string };

type ParsedFilters =
  | { readonly kind: 'condition'; readonly condition: AttributeCondition }
  | { readonly kind: 'fault'; readonly fault: FilterFault }
  /** The filters name another user. */
  | { readonly kind: 'wrong_user' };

class Refusal extends Error {
  readonly fault: FilterFault;

  constructor(path: FilterFault['path'], message: string) {
    super(message);
    this.fault = { path, message };
  }
}
class WrongUser extends Error {}

const everything: AttributeCondition = { and: [] };

/**
 * Reads filters: an object of fields joined by AND, with the members AND, OR and NOT for compound conditions
 * (memory:search:scope-filter, memory:search:compound-filter). A field has a value, or an object of operators: eq, ne,
 * in, gt, gte, lt, lte, contains, icontains; the value "*" matches any value that is present. Fields are agent_id,
 * run_id, user_id, role, categories, created_at, updated_at and members of metadata.
 * @param names the names of the caller: a condition on another user is refused
 */
export function parseFilters(json: unknown, names: readonly string[]): ParsedFilters {
  try {
    return { kind: 'condition', condition: new FilterReader(names).read(json, [], 1) };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'fault', fault: error.fault };
    if (error instanceof WrongUser) return { kind: 'wrong_user' };
    throw error;
  }
}

type Place = FilterFault['path'];

class FilterReader {
  readonly #names: readonly string[];
  #parts = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  read(json: unknown, at: Place, depth: number): AttributeCondition {
    if (depth > filterLimits.depth) throw new Refusal(at, `is nested deeper than ${filterLimits.depth}`);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Refusal(at, 'must be an object');
    const parts = Object.entries(json).map(([key, value]) => {
      this.#count(at);
      return this.#member(key, value, [...at, key], depth);
    });
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { and: parts };
  }

  #member(key: string, value: unknown, at: Place, depth: number): AttributeCondition {
    if (key === 'AND') return { and: this.#list(value, at, depth) };
    if (key === 'OR') return { or: this.#list(value, at, depth) };
    if (key === 'NOT')
      return { not: { or: Array.isArray(value) ? this.#list(value, at, depth) : [this.read(value, at, depth + 1)] } };
    if (key === metadataRoot) return this.#metadata(metadataRoot, value, at, depth);
    return this.#field(key, value, at);
  }

  #list(json: unknown, at: Place, depth: number): readonly AttributeCondition[] {
    if (!Array.isArray(json) || json.length === 0) throw new Refusal(at, 'must be a list with at least one condition');
    return json.map((part, index) => {
      this.#count(at);
      return this.read(part, [...at, index], depth + 1);
    });
  }

  /** Counts one part of a filter: every part costs time for every memory, even a part without a condition. */
  #count(at: Place): void {
    this.#parts += 1;
    if (this.#parts > filterLimits.parts) throw new Refusal(at, `has more than ${filterLimits.parts} conditions`);
  }

  /** Reads members of metadata, which are inside an object: {"metadata": {"source": "chat"}}. */
  #metadata(path: string, json: unknown, at: Place, depth: number): AttributeCondition {
    if (depth > filterLimits.depth) throw new Refusal(at, `is nested deeper than ${filterLimits.depth}`);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Refusal(at, 'must be an object');
    const parts = Object.entries(json).map(([key, value]) => {
      this.#count(at);
      const place = [...at, key];
      const isNested = typeof value === 'object' && value !== null && !Array.isArray(value) && !hasOperators(value);
      if (isNested) return this.#metadata(innerPath(path, key), value, place, depth + 1);
      return this.#comparisons(innerPath(path, key), value, place);
    });
    return { and: parts };
  }

  #field(name: string, value: unknown, at: Place): AttributeCondition {
    if (name === 'user_id') return this.#user(value, at);
    if (name.startsWith(`${metadataRoot}.`)) return this.#comparisons(readMetadataPath(name), value, at);
    if (!fields.has(name)) throw new Refusal(at.slice(0, -1), 'has an unknown field');
    return this.#comparisons(name, value, at);
  }

  #user(value: unknown, at: Place): AttributeCondition {
    const named =
      typeof value === 'object' && value !== null && Object.keys(value).join() === 'eq'
        ? Object.values(value)[0]
        : value;
    const isForeign = (id: unknown): boolean => typeof id === 'string' && id !== '*' && !this.#names.includes(id);
    const ids: readonly unknown[] = typeof value === 'object' && value !== null ? Object.values(value).flat() : [value];
    // Ids are checked even if the form of the filter is not supported, such as a list.
    if (ids.some(isForeign)) throw new WrongUser();
    if (typeof named === 'string') return everything;
    throw new Refusal(at, 'must be the id of the calling user');
  }

  #comparisons(path: string, value: unknown, at: Place): AttributeCondition {
    if (path.length > filterLimits.pathLength)
      throw new Refusal(at, `is longer than ${filterLimits.pathLength} characters`);
    if (typeof value !== 'object' || value === null) return this.#comparison(path, 'eq', value, at);
    if (Array.isArray(value)) return this.#comparison(path, 'in', value, at);
    const parts = Object.entries(value).map(([op, operand]) => {
      this.#count(at);
      return this.#comparison(path, op, operand, [...at, op]);
    });
    if (parts.length === 0) throw new Refusal(at, 'must name an operator');
    return { and: parts };
  }

  #comparison(path: string, op: string, operand: unknown, at: Place): AttributeCondition {
    const isTime = path === 'created_at' || path === 'updated_at';
    switch (op) {
      case 'eq':
        if (operand === '*') return { path: 'present', op: 'eq', value: path };
        return { path, op: 'eq', value: attributeValue(operand, isTime, at) };
      case 'ne':
        if (operand === '*') return { not: { path: 'present', op: 'eq', value: path } };
        return { path, op: 'ne', value: attributeValue(operand, isTime, at) };
      case 'in':
        return { path, op: 'in', value: valuesOf(operand, isTime, at) };
      case 'gt':
      case 'gte':
      case 'lt':
      case 'lte':
        return { path, op, value: orderedOf(operand, isTime, at) };
      case 'contains':
        if (path === 'categories') return { path, op: 'eq', value: partOf(operand, at) };
        return { path, op: 'contains', value: partOf(operand, at) };
      case 'icontains':
        return { path: `${lowerPrefix}${path}`, op: 'contains', value: partOf(operand, at).toLowerCase() };
      default:
        throw new Refusal(at.slice(0, -1), 'has an unknown operator');
    }
  }
}

const fields = new Set(['agent_id', 'run_id', 'role', 'categories', 'created_at', 'updated_at']);
const operators = new Set(['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains', 'icontains']);

function hasOperators(value: object): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => operators.has(key));
}

function attributeValue(json: unknown, isTime: boolean, at: Place): AttributeValue {
  if (isTime) return timeOf(json, at);
  if (typeof json === 'boolean' || (typeof json === 'number' && Number.isFinite(json))) return json;
  if (typeof json !== 'string') throw new Refusal(at, 'must be a string, a number or a boolean');
  if (json.length > filterLimits.valueLength)
    throw new Refusal(at, `is longer than ${filterLimits.valueLength} characters`);
  return json;
}

function orderedOf(json: unknown, isTime: boolean, at: Place): string | number {
  const value = attributeValue(json, isTime, at);
  if (typeof value === 'boolean') throw new Refusal(at, 'must be a string or a number');
  return value;
}

function valuesOf(json: unknown, isTime: boolean, at: Place): readonly AttributeValue[] {
  if (!Array.isArray(json) || json.length === 0) throw new Refusal(at, 'must be a list with at least one value');
  if (json.length > filterLimits.values) throw new Refusal(at, `has more than ${filterLimits.values} values`);
  return json.map((value, index) => attributeValue(value, isTime, [...at, index]));
}

function partOf(json: unknown, at: Place): string {
  const value = attributeValue(json, false, at);
  if (typeof value !== 'string' || value === '') throw new Refusal(at, 'must be a string that is not empty');
  return value;
}

const dateForm = z.union([z.iso.date(), z.iso.datetime({ local: true, offset: true })]);

/** Milliseconds of an ISO 8601 date; a date without a time zone is in UTC. */
function timeOf(json: unknown, at: Place): number {
  const text = dateForm.safeParse(json).data;
  const withZone = text === undefined || text.length === 10 || /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`;
  const time = withZone === undefined ? Number.NaN : Date.parse(withZone);
  if (Number.isNaN(time)) throw new Refusal(at, 'must be a date such as 2026-05-01 or 2026-05-01T09:00:00Z');
  return time;
}
