import type { JsonValue } from '#kit/json/json-value';

/**
 * The keywords that the strict modes of OpenAI and Azure OpenAI both accept. Keywords for limits are not among them.
 */
const keywords = new Set(
  '$schema $ref $defs title description type enum const properties required additionalProperties items anyOf'.split(
    ' ',
  ),
);

/**
 * Whether a model can be forced to follow the schema of an answer: it describes an object, and all objects in it are
 * closed and have no optional member. Providers refuse the strict mode for any other schema.
 */
export function isStrictSchema(schema: JsonValue): boolean {
  return isObject(schema) && schema['type'] === 'object' && schema['anyOf'] === undefined && isStrict(schema);
}

function isStrict(schema: JsonValue | undefined): boolean {
  if (!isObject(schema)) return false;
  if (!Object.keys(schema).every((keyword) => keywords.has(keyword))) return false;
  const { type, $ref, $defs = {}, properties = {}, required = [], additionalProperties, items, anyOf = [] } = schema;
  if (type === undefined && $ref === undefined && schema['anyOf'] === undefined) return false;
  if (!isObject($defs) || !isObject(properties) || !Array.isArray(anyOf) || !Array.isArray(required)) return false;
  const types = [type].flat();
  const isClosed = additionalProperties === false && Object.keys(properties).every((name) => required.includes(name));
  if (types.includes('object') && !isClosed) return false;
  if (types.includes('array') && items === undefined) return false;
  const inner = [...Object.values($defs), ...Object.values(properties), ...anyOf];
  return [...inner, ...(items === undefined ? [] : [items])].every(isStrict);
}

function isObject(value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
