import type { JsonValue } from '#kit/json/json-value';
import type { CompiledValue } from '../expressions/value.ts';
import { isObject } from './check-schema.ts';

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

/** The information about a value before a run: a schema with its own definitions, or a value. */
export type Known =
  | { readonly kind: 'any' }
  | { readonly kind: 'schema'; readonly schema: JsonValue; readonly root: JsonValue }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Known> }
  | { readonly kind: 'absent'; readonly step: string };

export const anything: Known = { kind: 'any' };

export function knownBy(schema: JsonValue): Known {
  return { kind: 'schema', schema, root: schema };
}

export function knownMembers(members: Readonly<Record<string, Known>>): Known {
  return { kind: 'object', members: new Map(Object.entries(members)) };
}

/** The knowledge about the value after the steps; `absent` if the value cannot exist. */
export function stepInto(known: Known, steps: readonly (string | number)[]): Known {
  return steps.reduce<Known>(stepOnce, known);
}

function stepOnce(at: Known, step: string | number): Known {
  switch (at.kind) {
    case 'any':
    case 'absent':
      return at;
    case 'object': {
      if (typeof step === 'string') return at.members.get(step) ?? { kind: 'absent', step };
      return { kind: 'absent', step: `[${step}]` };
    }
    case 'schema':
      return stepIntoSchema(resolve(at.schema, at.root), at.root, step);
  }
}

function stepIntoSchema(schema: JsonValue, root: JsonValue, step: string | number): Known {
  if (!isObject(schema) || isOpen(schema)) return anything;
  const types = typesOf(schema);
  if (typeof step === 'number') {
    if (types !== undefined && !types.includes('array')) return { kind: 'absent', step: `[${step}]` };
    const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'][step] : undefined;
    return inSchema(prefix ?? schema['items'], root, `[${step}]`);
  }
  if (types !== undefined && !types.includes('object')) return { kind: 'absent', step };
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  if (Object.hasOwn(properties, step)) return inSchema(properties[step], root, step);
  return inSchema(schema['additionalProperties'], root, step);
}

function inSchema(schema: JsonValue | undefined, root: JsonValue, step: string): Known {
  if (schema === false) return { kind: 'absent', step };
  return schema === undefined || schema === true ? anything : { kind: 'schema', schema, root };
}

function resolve(schema: JsonValue, root: JsonValue): JsonValue {
  if (!isObject(schema) || typeof schema['$ref'] !== 'string' || !isObject(root) || !isObject(root['$defs'])) {
    return schema;
  }
  // Keywords next to a reference restrict its target further, so that fewer facts are known.
  if (Object.keys(schema).some((keyword) => !['$ref', '$defs', '$schema', 'description', 'title'].includes(keyword)))
    return true;
  return resolve(root['$defs'][schema['$ref'].slice('#/$defs/'.length)] ?? true, root);
}

/** Whether other keywords decide about the type and the members. */
function isOpen(schema: { readonly [name: string]: JsonValue }): boolean {
  return ['anyOf', 'oneOf', 'allOf', 'not'].some((keyword) => Object.hasOwn(schema, keyword));
}

function typesOf(schema: { readonly [name: string]: JsonValue }): readonly TypeName[] | undefined {
  if (schema['type'] !== undefined) return [schema['type']].flat() as TypeName[];
  if (schema['const'] !== undefined) return [typeOf(schema['const'])];
  return undefined;
}

function typeOf(value: JsonValue): TypeName {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'string' | 'boolean' | 'object';
}

/** The types that a value may have; undefined if nothing is known. */
function possibleTypes(known: Known): readonly TypeName[] | undefined {
  switch (known.kind) {
    case 'any':
    case 'absent':
      return undefined;
    case 'object':
      return ['object'];
    case 'schema': {
      const schema = resolve(known.schema, known.root);
      return isObject(schema) && !isOpen(schema) ? typesOf(schema) : undefined;
    }
  }
}

const fits = (given: TypeName, wanted: TypeName): boolean =>
  given === wanted || (given === 'integer' && wanted === 'number') || (given === 'number' && wanted === 'integer');

/** Why a value can never match a schema; undefined if it may match. */
export function mismatch(given: Known, wanted: Known): string | undefined {
  const [have, want] = [possibleTypes(given), possibleTypes(wanted)];
  if (have !== undefined && want !== undefined && !have.some((one) => want.some((other) => fits(one, other)))) {
    return `gives ${have.join(' or ')} where ${want.join(' or ')} is needed`;
  }
  if (wanted.kind !== 'schema' || (have !== undefined && !have.includes('object'))) return undefined;
  const schema = resolve(wanted.schema, wanted.root);
  if (!isObject(schema) || isOpen(schema)) return undefined;
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter((name) => typeof name === 'string')
    : [];
  for (const name of required) {
    if (stepInto(given, [name]).kind === 'absent') return `has no member ${name}, which is required`;
  }
  for (const name of Object.keys(isObject(schema['properties']) ? schema['properties'] : {})) {
    const own = stepInto(given, [name]);
    const inner = own.kind === 'absent' ? undefined : mismatch(own, stepInto(wanted, [name]));
    if (inner !== undefined) return `${inner} (member ${name})`;
  }
  if (schema['additionalProperties'] !== false || given.kind !== 'object') return undefined;
  const extra = [...given.members.keys()].find((name) => stepInto(wanted, [name]).kind === 'absent');
  return extra === undefined ? undefined : 'has a member that the schema does not allow';
}

/** The knowledge about a compiled value. `lookUp` returns the knowledge about an expression. */
export function knownOf(value: CompiledValue, lookUp: (value: CompiledValue & { kind: 'reference' }) => Known): Known {
  switch (value.kind) {
    case 'literal':
      return knownLiteral(value.value);
    case 'reference':
      return lookUp(value);
    case 'default':
      return anything;
    case 'list':
      return knownBy({ type: 'array' });
    case 'object':
      return knownMembers(Object.fromEntries(value.members.map(([name, member]) => [name, knownOf(member, lookUp)])));
  }
}

function knownLiteral(value: JsonValue): Known {
  if (!isObject(value)) return knownBy({ type: typeOf(value) });
  return knownMembers(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, knownLiteral(member)])));
}
