import type { JsonNode } from '#kit/json/parse-tree';

const serviceText = /^[\w.:-]{0,128}$/;

/** Maximum number of characters of a number that cannot hold the digits of a card, which has at least 12. */
export const maxNumberLength = 11;

/** Whether a text has the strict form of an id, a state or a name of the API. */
export function isServiceText(text: string): boolean {
  return serviceText.test(text);
}

/**
 * Whether a value has the strict form of values that the API or its servers set: ids, states, times, counts, and lists
 * or objects of them. Any other value of such a member can be a text of an author.
 */
export function isServiceValue(node: JsonNode): boolean {
  switch (node.kind) {
    case 'string':
      return isServiceText(node.value);
    case 'number':
      return node.end - node.start <= maxNumberLength;
    case 'array':
      return node.items.every(isServiceValue);
    case 'object':
      return node.members.every(({ key, value }) => isServiceText(key) && isServiceValue(value));
    case 'boolean':
    case 'null':
      return true;
  }
}

const categoryName = /^[\w.:/-]{0,128}$/;

/**
 * Whether a value has the strict form of a moderation result: names of categories, such as `harassment/threatening`,
 * with a state or a score from 0 to 1.
 */
export function isModeration(node: JsonNode): boolean {
  switch (node.kind) {
    case 'number':
      return isServiceValue(node) || (node.value >= 0 && node.value <= 1);
    case 'array':
      return node.items.every(isModeration);
    case 'object':
      return node.members.every(({ key, value }) => categoryName.test(key) && isModeration(value));
    default:
      return isServiceValue(node);
  }
}

/** Members with a number that a model samples with. */
const samplingMembers: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty'],
]);
/** Maximum number of characters of a number with the precision of a double, and of an integer of 64 bits. */
const longestDouble = 24;
const longestSeed = 20;

/**
 * Whether a member is a number for sampling, which has many digits if a client computed it. The model does not read it.
 */
export function isSamplingNumber({ key, value }: { readonly key: string; readonly value: JsonNode }): boolean {
  if (value.kind !== 'number') return false;
  const length = value.end - value.start;
  if (key === 'seed') return length <= longestSeed && Number.isInteger(value.value);
  return samplingMembers.has(key) && length <= longestDouble && Math.abs(value.value) <= 2;
}

/**
 * Whether a member has one of these names and a value of the strict form. A member of the same name with another value
 * is a parameter.
 */
export function isService(
  { key, value }: { readonly key: string; readonly value: JsonNode },
  names: ReadonlySet<string>,
): boolean {
  return names.has(key) && isServiceValue(value);
}
