import { z } from 'zod';
import type { ValidationRule } from '#resources/validation-rules';
import { type JsonSchema, mergeArms } from './merge-arms.ts';

/** A node of a structural schema (apiextensions.k8s.io/v1): every node has one type and is not a reference. */
export type StructuralSchema = {
  description?: string;
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  format?: 'int32' | 'int64' | 'date-time';
  enum?: readonly string[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: StructuralSchema;
  properties?: Record<string, StructuralSchema>;
  required?: readonly string[];
  'x-kubernetes-list-type'?: 'atomic' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-validations'?: ValidationRule[];
};

/**
 * The structural schema of a zod schema. A union with a discriminator becomes one object whose members are optional,
 * with rules that state which member belongs to which value.
 * @throws TypeError for a schema that a structural schema cannot express, so that no limit is lost silently
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return convert(z.toJSONSchema(schema, { io: 'input', reused: 'inline' }) as JsonSchema, '');
}

/** Keywords that are allowed in a node of each type; any other keyword would be lost. */
const known: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['enum', 'const', 'pattern', 'format', 'minLength', 'maxLength'],
  integer: ['minimum', 'maximum'],
  boolean: ['const'],
};

function convert(node: JsonSchema, place: string): StructuralSchema {
  if (node.oneOf !== undefined || node.anyOf !== undefined) return convertUnion(node, place);
  const allowed = known[node.type ?? ''];
  if (allowed === undefined) throw new TypeError(`${place}: a structural schema has no type ${node.type}`);
  const lost = Object.keys(node).find((key) => !['$schema', 'type', 'description', ...allowed].includes(key));
  if (lost !== undefined) throw new TypeError(`${place}: ${lost} cannot be said in a structural schema`);
  const description = node.description === undefined ? {} : { description: node.description };
  switch (node.type) {
    case 'object':
      return { ...description, ...convertObject(node, place) };
    case 'array':
      return { ...description, ...convertArray(node, place) };
    case 'integer':
      return { ...description, ...convertInteger(node) };
    case 'string':
      return { ...description, ...convertString(node) };
    default:
      return { ...description, type: 'boolean' };
  }
}

function convertObject(node: JsonSchema, place: string): StructuralSchema {
  if (node.additionalProperties !== false) throw new TypeError(`${place}: an object lists its members`);
  const members = Object.entries(node.properties ?? {}).map(
    ([name, member]) => [name, convert(member, `${place}.${name}`)] as const,
  );
  return {
    type: 'object',
    ...(node.required === undefined || node.required.length === 0 ? {} : { required: node.required }),
    properties: Object.fromEntries(members),
  };
}

function convertArray(node: JsonSchema, place: string): StructuralSchema {
  if (node.items === undefined) throw new TypeError(`${place}: a list needs the schema of its items`);
  return {
    type: 'array',
    ...pick(node, 'minItems', 'maxItems'),
    'x-kubernetes-list-type': 'atomic',
    items: convert(node.items, `${place}[]`),
  };
}

const maxInt32 = 2_147_483_647;

function convertInteger(node: JsonSchema): StructuralSchema {
  const isSmall = (node.minimum ?? -Infinity) >= -maxInt32 && (node.maximum ?? Infinity) <= maxInt32;
  return { type: 'integer', format: isSmall ? 'int32' : 'int64', ...pick(node, 'minimum', 'maximum') };
}

/** The API server does not check the formats uri and uuid: beyond the pattern, the operator checks them. */
function convertString(node: JsonSchema): StructuralSchema {
  const values = node.const === undefined ? node.enum : [String(node.const)];
  if (values !== undefined) return { type: 'string', enum: values };
  if (node.format === 'date-time') return { type: 'string', format: 'date-time', maxLength: 64 };
  const { minLength, ...rest } = pick(node, 'pattern', 'minLength', 'maxLength');
  return { type: 'string', ...rest, ...(minLength === undefined || minLength === 0 ? {} : { minLength }) };
}

function convertUnion(node: JsonSchema, place: string): StructuralSchema {
  const arms = (node.oneOf ?? node.anyOf ?? []).map((arm) => ({ source: arm, schema: convert(arm, place) }));
  const merged = mergeArms(arms, place);
  return node.description === undefined ? merged : { description: node.description, ...merged };
}

function pick<K extends keyof JsonSchema>(node: JsonSchema, ...keys: readonly K[]): Pick<JsonSchema, K> {
  const present = keys.filter((key) => node[key] !== undefined).map((key) => [key, node[key]]);
  return Object.fromEntries(present) as Pick<JsonSchema, K>;
}
