/** The members of JSON Schema that the schemas of resources use. */
export type FieldSchema = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly oneOf?: readonly FieldSchema[];
  readonly anyOf?: readonly FieldSchema[];
};

export type Member = { readonly name: string; readonly schema: FieldSchema; readonly isRequired: boolean };

/** The field at a path, or the first name that does not exist, with the existing names. */
type FoundField =
  | { readonly ok: true; readonly schema: FieldSchema }
  | { readonly ok: false; readonly missing: string; readonly known: readonly string[] };

/** Finds a field; a name also finds fields of list entries and of every alternative of a union, as in kubectl. */
export function findField(whole: FieldSchema, path: readonly string[]): FoundField {
  let schema = whole;
  for (const name of path) {
    const members = membersOf(schema);
    const member = members.find((one) => one.name === name);
    if (member === undefined) return { ok: false, missing: name, known: members.map((one) => one.name) };
    schema = member.schema;
  }
  return { ok: true, schema };
}

/** The members of an object, of the items of a list, or of all alternatives of a union. */
export function membersOf(schema: FieldSchema): readonly Member[] {
  const { items, properties = {}, required = [] } = schema;
  if (items !== undefined) return membersOf(items);
  const arms = armsOf(schema);
  if (arms.length > 0) return joined(arms.map(membersOf));
  return Object.entries(properties).map(([name, member]) => ({
    name,
    schema: member,
    isRequired: required.includes(name),
  }));
}

function armsOf({ oneOf = [], anyOf = [] }: FieldSchema): readonly FieldSchema[] {
  return [...oneOf, ...anyOf];
}

/** A member is required if every alternative requires it; different schemas with one name become alternatives again. */
function joined(arms: readonly (readonly Member[])[]): readonly Member[] {
  const names = [...new Set(arms.flatMap((arm) => arm.map(({ name }) => name)))];
  return names.map((name) => {
    const found = arms.flatMap((arm) => arm.filter((one) => one.name === name));
    const [first, ...others] = found;
    const isSame = others.every((one) => JSON.stringify(one.schema) === JSON.stringify(first?.schema));
    const schema: FieldSchema =
      isSame && first !== undefined ? first.schema : alternatives(found.map((one) => one.schema));
    return { name, schema, isRequired: found.length === arms.length && found.every((one) => one.isRequired) };
  });
}

/** The constants of the alternatives form one enumeration. */
function alternatives(schemas: readonly FieldSchema[]): FieldSchema {
  const values = schemas.flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]));
  const description = schemas.find((schema) => schema.description !== undefined)?.description;
  const isChoice = schemas.every((schema) => schema.enum !== undefined || schema.const !== undefined);
  return {
    ...(description === undefined ? {} : { description }),
    ...(isChoice ? { type: 'string', enum: [...new Set(values)] } : { anyOf: schemas }),
  };
}

/** The type of a field as kubectl writes it: `string`, `Object`, `[]Object`, `map[string]string`. */
export function typeOf(schema: FieldSchema): string {
  const { type, items, properties, additionalProperties } = schema;
  if (items !== undefined) return `[]${typeOf(items)}`;
  const arms = armsOf(schema);
  if (arms.length > 0) return [...new Set(arms.map(typeOf))].join('|');
  if (type === 'object' && properties === undefined && typeof additionalProperties === 'object') {
    return `map[string]${typeOf(additionalProperties)}`;
  }
  if (type === 'object') return 'Object';
  return type ?? (schema.const === undefined ? 'any' : typeof schema.const);
}

const bounds = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'default',
] as const;

/** The constraints of a value, one line each. */
export function rulesOf(schema: FieldSchema): readonly string[] {
  const choices = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const lines = bounds.flatMap((name) =>
    schema[name] === undefined ? [] : [`${name}: ${JSON.stringify(schema[name])}`],
  );
  return choices.length === 0 ? lines : [`enum: ${choices.map(String).join(', ')}`, ...lines];
}
