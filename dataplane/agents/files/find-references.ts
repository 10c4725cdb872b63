import type { JsonValue } from '#kit/json/json-value';

/** Value of `apiVersion` in a file reference of any version. */
const referenceVersion = /^platform\.file-ref\//;

type Holder = { readonly members: Record<string | number, JsonValue>; readonly key: string | number };

/**
 * Whether a value claims to be a file reference, valid or not: it has the version of a file reference, or a capability
 * and a file id.
 */
function isReference(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const version = Object.hasOwn(value, 'apiVersion') ? value['apiVersion'] : undefined;
  if (typeof version === 'string' && referenceVersion.test(version)) return true;
  return Object.hasOwn(value, 'capability') && Object.hasOwn(value, 'fileId');
}

/** Whether a value contains a file reference. */
export function hasReference(value: JsonValue): boolean {
  if (isReference(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasReference);
}

/** The value with each file reference replaced, in the order of `listReferences`. */
export function replaceReferences(value: JsonValue, replacements: readonly JsonValue[]): JsonValue {
  const holder = { value: structuredClone(value) };
  for (const [at, { members, key }] of referencesOf(holder, 'value').entries()) members[key] = replacements[at] ?? null;
  return holder.value;
}

/** Every file reference of a value. */
export function listReferences(value: JsonValue): readonly JsonValue[] {
  return referencesOf({ value }, 'value').map(({ members, key }) => members[key] ?? null);
}

function referencesOf(holder: Record<string, JsonValue> | JsonValue[], key: string | number): readonly Holder[] {
  const members = holder as Record<string | number, JsonValue>;
  const value = members[key] ?? null;
  if (isReference(value)) return [{ members, key }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((_, index) => referencesOf(value, index));
  return Object.keys(value).flatMap((name) => referencesOf(value, name));
}
