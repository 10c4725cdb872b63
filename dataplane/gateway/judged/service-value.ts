import type { JsonNode } from '#kit/json/parse-tree';

type Member = { readonly key: string; readonly value: JsonNode };

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

/** Whether a member is a number for sampling, which has many digits where a client computed it. The model does not read it. */
export function isSamplingNumber({ key, value }: Member): boolean {
  if (value.kind !== 'number') return false;
  const length = value.end - value.start;
  if (key === 'seed') return length <= longestSeed && Number.isInteger(value.value);
  return samplingMembers.has(key) && length <= longestDouble && Math.abs(value.value) <= 2;
}

/**
 * A member of one of these names whose value is one string, number or boolean of the strict form. A list or an object can hold a text
 * whose words are apart. One of the same name with another value is a parameter.
 */
export function isService({ key, value }: Member, names: ReadonlySet<string>): boolean {
  return names.has(key) && value.kind !== 'array' && value.kind !== 'object' && isServiceValue(value);
}

/** A member of this name whose value is an object with these members only, each of the strict form. */
export function isServiceObject({ key, value }: Member, name: string, members: ReadonlySet<string>): boolean {
  return key === name && value.kind === 'object' && value.members.every((one) => isService(one, members));
}

/** Options of a stream: those of the API, and one of vLLM. */
const streamOptions: ReadonlySet<string> = new Set(['include_usage', 'include_obfuscation', 'continuous_usage_stats']);

/** Whether a member requests a stream, or has the options of one. */
export function isStreamRequest(member: Member): boolean {
  const { key, value } = member;
  if (key === 'stream') return value.kind === 'boolean' || value.kind === 'null';
  if (key !== 'stream_options') return false;
  const isFlag = ({ key, value }: Member): boolean =>
    streamOptions.has(key) && (value.kind === 'boolean' || value.kind === 'null');
  return value.kind === 'null' || (value.kind === 'object' && value.members.every(isFlag));
}
