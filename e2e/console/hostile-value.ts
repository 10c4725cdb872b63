import { z } from 'zod';

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The members of JSON Schema that the contracts use. */
type Schema = {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
};

/** Texts for members whose form excludes hostile texts. The first text that matches a pattern is used. */
const formats: Readonly<Record<string, string>> = {
  uuid: '01900000-0000-7000-8000-000000000001',
  'date-time': '2026-01-31T09:00:00.000Z',
  uri: 'http://agents.example/a',
};
const plain = [...Object.values(formats), 'a'.repeat(64), 'a'.repeat(32), 'name', '1'];
const items = 6;

/**
 * An answer with this schema in which every free text is hostile. Each member gets the next text, so that two
 * successive calls with the same iterator use different texts for the same member.
 * @param most maximum number of items of a list
 * @throws Error for a schema that no such value matches
 */
export function hostileAnswer(schema: z.ZodType, next: () => string, most = items): Json {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  const value = hostileValue(root, { next, root, most, turn: 0, depth: 0 });
  const read = schema.safeParse(value);
  if (!read.success) throw new Error(`the value is no answer: ${z.prettifyError(read.error)}`);
  return value;
}

type Place = {
  readonly next: () => string;
  readonly root: Schema;
  readonly most: number;
  readonly turn: number;
  readonly depth: number;
};

function hostileValue(schema: Schema, place: Place): Json {
  if (schema.$ref !== undefined)
    return hostileValue(definitionOf(schema.$ref, place.root), { ...place, depth: place.depth + 1 });
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[place.turn % schema.enum.length] ?? null;
  const choices = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== 'null');
  if (choices !== undefined) return hostileValue(choices[place.turn % choices.length] ?? {}, place);
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  switch (types[0] ?? (schema.type === undefined ? undefined : 'null')) {
    case 'string':
      return textOf(schema, place.next);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, (schema.exclusiveMinimum ?? -1) + 1);
    case 'boolean':
      return place.turn % 2 === 0;
    case 'array':
      return arrayOf(schema, place);
    case 'object':
      return objectOf(schema, place);
    case 'null':
      return null;
    default:
      return place.next();
  }
}

function definitionOf(reference: string, root: Schema): Schema {
  const found = reference === '#' ? root : root.$defs?.[reference.replace('#/$defs/', '')];
  if (found === undefined) throw new Error(`there is no definition ${reference}`);
  return found;
}

function textOf({ format, pattern, minLength = 0, maxLength }: Schema, next: () => string): string {
  const fits = (text: string): boolean =>
    text.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const hostile = next().slice(0, maxLength);
  if (format === undefined && fits(hostile)) return hostile;
  const found = format === undefined ? plain.map((text) => text.slice(0, maxLength)).find(fits) : formats[format];
  if (found === undefined) throw new Error(`no text fits the form ${pattern ?? format ?? ''}`);
  return found;
}

function arrayOf({ items: of = {}, prefixItems, minItems = 0, maxItems = items }: Schema, place: Place): Json {
  if (prefixItems !== undefined) return prefixItems.map((one) => hostileValue(one, place));
  // A schema that refers to itself ends.
  const wanted = place.depth > 4 ? 0 : place.depth > 1 ? 2 : items;
  const length = Math.max(minItems, Math.min(maxItems, wanted, place.most));
  return Array.from({ length }, (_, turn) =>
    hostileValue(of, { ...place, turn: place.turn + turn, depth: place.depth + 1 }),
  );
}

function objectOf({ properties = {}, additionalProperties }: Schema, place: Place): Json {
  const named = Object.entries(properties).map(([name, of]) => [
    name,
    hostileValue(of, { ...place, depth: place.depth + 1 }),
  ]);
  const isOpen = typeof additionalProperties === 'object' && Object.keys(properties).length === 0;
  const free = isOpen ? [[place.next(), hostileValue(additionalProperties, { ...place, depth: place.depth + 1 })]] : [];
  return Object.fromEntries([...named, ...free]);
}
