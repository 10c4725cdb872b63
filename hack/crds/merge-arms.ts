import { isDeepStrictEqual } from 'node:util';
import type { ValidationRule } from '#resources/validation-rules';
import type { StructuralSchema } from './structural-schema.ts';

/** The part of JSON Schema that zod writes for our schemas. */
export type JsonSchema = {
  readonly $schema?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: JsonSchema;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

/** One alternative of a union, as zod describes it and as a structural schema. */
type Arm = { readonly source: JsonSchema; readonly schema: StructuralSchema };

type Value = string | boolean;
type TaggedArm = { readonly value: Value; readonly schema: StructuralSchema };
type Members = Readonly<Record<string, StructuralSchema>>;

/**
 * One object for all alternatives of a union. The discriminator lists every value, members that not all alternatives
 * have are optional, and rules state which members belong to which value.
 * @throws TypeError when the alternatives differ in a way that such an object cannot express
 */
export function mergeArms(arms: readonly Arm[], place: string): StructuralSchema {
  const discriminator = findDiscriminator(arms, place);
  const tagged = arms.map(({ source, schema }) => ({
    value: source.properties?.[discriminator]?.const as Value,
    schema,
  }));
  const names = [...new Set(tagged.flatMap(({ schema }) => Object.keys(schema.properties ?? {})))];
  const rules: ValidationRule[] = [];
  const properties: Record<string, StructuralSchema> = {};
  for (const name of names) {
    const holders = tagged.filter(({ schema }) => membersOf(schema)[name] !== undefined);
    const merged = name === discriminator ? mergeTags(holders, name) : mergeMember(holders, name, discriminator, place);
    properties[name] = merged.schema;
    rules.push(...merged.rules);
  }
  const required = names.filter((name) => tagged.every(({ schema }) => schema.required?.includes(name)));
  rules.unshift(...presenceRules(tagged, names, discriminator, place));
  return { type: 'object', required, properties, 'x-kubernetes-validations': rules };
}

function membersOf(schema: StructuralSchema): Members {
  return schema.properties ?? {};
}

function findDiscriminator(arms: readonly Arm[], place: string): string {
  const [first] = arms;
  const found = Object.keys(first?.source.properties ?? {}).find((name) => {
    const values = arms.map(({ source }) => source.properties?.[name]?.const);
    return !values.includes(undefined) && new Set(values).size === arms.length;
  });
  if (found === undefined)
    throw new TypeError(`${place}: a union needs a member with another value in each alternative`);
  return found;
}

function mergeTags(holders: readonly TaggedArm[], name: string) {
  const [first] = holders.map(({ schema }) => membersOf(schema)[name]);
  const described = first?.description === undefined ? {} : { description: first.description };
  const schema: StructuralSchema =
    typeof holders[0]?.value === 'boolean'
      ? { ...described, type: 'boolean' }
      : { ...described, type: 'string', enum: holders.map(({ value }) => String(value)) };
  return { schema, rules: [] };
}

/**
 * A member that several alternatives have: it is equal in all of them, or in some narrower by the values of one
 * enumeration.
 */
function mergeMember(holders: readonly TaggedArm[], name: string, discriminator: string, place: string) {
  const schemas = holders.map(({ schema }) => membersOf(schema)[name] as StructuralSchema);
  const widest = schemas.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] as StructuralSchema;
  const narrower = holders.filter(({ schema }) => !isDeepStrictEqual(membersOf(schema)[name], widest));
  if (narrower.length === 0) return { schema: widest, rules: [] };
  const limits = narrower.map(({ value, schema }) => ({
    value,
    limit: narrowing(membersOf(schema)[name] as StructuralSchema, widest, `${place}.${name}`),
  }));
  const distinct = new Map(limits.map(({ limit }) => [JSON.stringify(limit), limit]));
  const rules = [...distinct].map(([key, limit]) => {
    const values = limits.filter((one) => JSON.stringify(one.limit) === key).map(({ value }) => value);
    const field = `${name}.${limit.member}`;
    const allowed = limit.values.map(literal);
    return {
      rule: `!(${isOneOf(discriminator, values)}) || ${among(`self.${field}`, allowed)}`,
      message: `${field} is ${limit.values.join(' or ')} where ${discriminator} is ${values.join(' or ')}`,
      reason: 'FieldValueInvalid',
      fieldPath: `.${field}`,
    } as const satisfies ValidationRule;
  });
  return { schema: widest, rules };
}

function sizeOf(schema: StructuralSchema): number {
  return JSON.stringify(schema).length;
}

/**
 * The only enumeration by which one object is narrower than another; its missing members must depend on that
 * enumeration.
 */
function narrowing(narrow: StructuralSchema, wide: StructuralSchema, place: string) {
  const wideMembers = membersOf(wide);
  const different = Object.entries(membersOf(narrow)).filter(
    ([name, member]) => !isDeepStrictEqual({ ...member, description: '' }, { ...wideMembers[name], description: '' }),
  );
  const [only, ...others] = different;
  const values = only?.[1].enum;
  const isSubset = values?.every((value) => wideMembers[only?.[0] ?? '']?.enum?.includes(value)) ?? false;
  const sameRequired = isDeepStrictEqual(narrow.required, wide.required);
  if (only === undefined || values === undefined || others.length > 0 || !isSubset || !sameRequired) {
    throw new TypeError(`${place}: alternatives differ in more than the values of one member`);
  }
  return { member: only[0], values };
}

/** Rules for members that exist for some values of the discriminator only; members of the same values share a rule. */
function presenceRules(
  tagged: readonly TaggedArm[],
  names: readonly string[],
  discriminator: string,
  place: string,
): readonly ValidationRule[] {
  const groups = new Map<string, { readonly values: readonly Value[]; readonly members: string[] }>();
  const optional: ValidationRule[] = [];
  for (const name of names) {
    const holders = tagged.filter(({ schema }) => membersOf(schema)[name] !== undefined);
    if (holders.length === tagged.length) continue;
    const values = holders.map(({ value }) => value);
    const demanding = holders.filter(({ schema }) => schema.required?.includes(name)).length;
    if (demanding === 0) {
      optional.push(absenceRule(discriminator, values, name));
      continue;
    }
    if (demanding < holders.length) {
      throw new TypeError(`${place}.${name}: a member of some alternatives is required in all of them or in none`);
    }
    const group = groups.get(values.join(' ')) ?? { values, members: [] };
    group.members.push(name);
    groups.set(values.join(' '), group);
  }
  return [
    ...[...groups.values()].map(({ values, members }) => presenceRule(discriminator, values, members)),
    ...optional,
  ];
}

/** An optional member of some alternatives. */
function absenceRule(discriminator: string, values: readonly Value[], name: string): ValidationRule {
  return {
    rule: `!has(self.${name}) || ${isOneOf(discriminator, values)}`,
    message: `${name} is allowed only where ${discriminator} is ${values.join(' or ')}`,
    reason: 'FieldValueInvalid',
    fieldPath: `.${name}`,
  };
}

function presenceRule(discriminator: string, values: readonly Value[], members: readonly string[]): ValidationRule {
  const condition = isOneOf(discriminator, values);
  const [only] = members;
  const verb = members.length === 1 ? 'is' : 'are';
  const rest = {
    message: `${members.join(', ')} ${verb} required where ${discriminator} is ${values.join(' or ')}, and forbidden elsewhere`,
    reason: 'FieldValueInvalid',
  } as const;
  if (members.length === 1) return { rule: `has(self.${only}) == (${condition})`, ...rest, fieldPath: `.${only}` };
  const present = members.map((name) => `has(self.${name})`).join(', ');
  return { rule: `[${present}].all(present, present == (${condition}))`, ...rest };
}

function isOneOf(member: string, values: readonly Value[]): string {
  const [only] = values;
  if (values.length === 1 && typeof only === 'boolean') return only ? `self.${member}` : `!self.${member}`;
  return among(`self.${member}`, values.map(literal));
}

function among(subject: string, literals: readonly string[]): string {
  return literals.length === 1 ? `${subject} == ${literals[0]}` : `${subject} in [${literals.join(', ')}]`;
}

function literal(value: Value): string {
  return typeof value === 'boolean' ? String(value) : `'${value}'`;
}
