import type { z } from 'zod';

/** The place at which a schema has a field that a value has in a wrong place. */
export type OtherPlace =
  /** The schema has the field at exactly one other path, such as `spec.model.alias`. */
  | { readonly kind: 'path'; readonly path: readonly string[] }
  /**
   * The schema has the field in the same place if another field has this value: `kind` is `regex`. `fields` are the
   * fields of the object in that case.
   */
  | { readonly kind: 'variant'; readonly field: string; readonly value: string; readonly fields: readonly string[] };

/** Objects within objects that are searched; more of them have no field of their own right. */
const deepest = 6;

/** Looks for a field that is unknown at its path; undefined if the schema has it nowhere else, or in several places. */
export function findOtherPlace(schema: z.ZodType, path: readonly PropertyKey[]): OtherPlace | undefined {
  const name = path.at(-1);
  if (typeof name !== 'string') return undefined;
  const variant = variantWith(schemasAt(schema, path.slice(0, -1)), name);
  if (variant !== undefined) return variant;
  const places = new Map(pathsOf(schema, name, []).map((found) => [found.join('.'), found]));
  const [only] = places.values();
  return only === undefined || places.size > 1 ? undefined : { kind: 'path', path: only };
}

/** The fields that an object at a path must have; empty if the schema has alternatives at the path, or no object. */
export function requiredFields(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [object, ...others] = schemasAt(schema, path);
  if (object === undefined || others.length > 0) return [];
  return Object.entries(shapeOf(object)).flatMap(([field, inner]) => (inner._zod.optin === undefined ? [field] : []));
}

/**
 * The description of a field, without its full stop; undefined if the field has no description, or its alternatives
 * have several.
 */
export function fieldPurpose(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  const name = String(path.at(-1));
  const found = schemasAt(schema, path.slice(0, -1)).flatMap((object) => shapeOf(object)[name]?.description ?? []);
  const [only, ...others] = new Set(found);
  return others.length > 0 ? undefined : only?.replace(/\.$/, '');
}

/** The alternative, among the objects at one path, that has the field; it is named by a field with only one value. */
function variantWith(objects: readonly z.ZodType[], name: string): OtherPlace | undefined {
  const having = objects.filter((object) => name in shapeOf(object));
  const [own] = having;
  if (own === undefined || having.length > 1 || objects.length === 1) return undefined;
  for (const [field, inner] of Object.entries(shapeOf(own))) {
    const [value, ...others] = valuesOf(inner);
    if (typeof value === 'string' && others.length === 0)
      return { kind: 'variant', field, value, fields: Object.keys(shapeOf(own)) };
  }
  return undefined;
}

function pathsOf(schema: z.ZodType, name: string, above: readonly string[]): readonly (readonly string[])[] {
  if (above.length >= deepest) return [];
  return alternativesOf(schema).flatMap((object) =>
    Object.entries(shapeOf(object)).flatMap(([field, inner]) => {
      const path = [...above, field];
      return field === name ? [path] : pathsOf(inner, name, path);
    }),
  );
}

/** The objects that a schema allows at a path. */
function schemasAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly z.ZodType[] {
  const [first, ...rest] = path;
  if (first === undefined) return alternativesOf(schema);
  if (typeof first === 'number') {
    return unwrapped(schema).flatMap((inner) => {
      const { element } = definitionOf(inner);
      return element === undefined ? [] : schemasAt(element, rest);
    });
  }
  return alternativesOf(schema).flatMap((object) => {
    const inner = shapeOf(object)[String(first)];
    return inner === undefined ? [] : schemasAt(inner, rest);
  });
}

function alternativesOf(schema: z.ZodType): readonly z.ZodType[] {
  return unwrapped(schema).filter((inner) => definitionOf(inner).type === 'object');
}

/** The schemas inside optional values, defaults and alternatives. */
function unwrapped(schema: z.ZodType): readonly z.ZodType[] {
  const { innerType, options, in: input } = definitionOf(schema);
  const inner = innerType === undefined ? (options ?? (input === undefined ? [] : [input])) : [innerType];
  return inner.length === 0 ? [schema] : inner.flatMap(unwrapped);
}

type Definition = {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly in?: z.ZodType;
  readonly values?: readonly unknown[];
};

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition;
const shapeOf = (schema: z.ZodType): Readonly<Record<string, z.ZodType>> => definitionOf(schema).shape ?? {};
const valuesOf = (schema: z.ZodType): readonly unknown[] => definitionOf(schema).values ?? [];
