import { createHash } from 'node:crypto';
import type { OrderOperator } from '../../condition.ts';
import type { AttributeValue, IndexEntry } from '../../ports.ts';

/**
 * How many code units of a string attribute conditions of OpenSearch compare: an index accepts no term above 32,766
 * bytes. A longer string is equal only to itself, and its further units are ignored by `contains` and by the order.
 */
const comparedUnits = 8_000;
/** Longest label or group; a longer one is replaced by its hash. */
const longestKeyword = 1_000;

/** A name that is only compared for equality. */
export function keywordOf(name: string): string {
  // A name and a hash begin with different signs, so that they are never confused.
  return name.length <= longestKeyword ? `=${name}` : `#${hashOf(name)}`;
}

/**
 * The words that represent the attributes of an entry: the hash of the path, a letter for the type, and the value in a
 * form whose order as bytes is the order of the values.
 */
export function attributeWords(attributes: IndexEntry['attributes']): readonly string[] {
  return Object.entries(attributes).flatMap(([path, value]) => {
    const values: readonly AttributeValue[] = typeof value === 'object' ? value : [value];
    return values.flatMap((one) => [equalWord(path, one), ...orderedWords(path, one)]);
  });
}

/** The word that an entry has if and only if one of its values at the path equals this value. */
export function equalWord(path: string, value: AttributeValue): string {
  if (typeof value === 'string') return `${prefixOf(path, 'e')}${keywordOf(value)}`;
  return typeof value === 'number' ? `${prefixOf(path, 'n')}${sortable(value)}` : `${prefixOf(path, 'b')}${value}`;
}

/** The bounds of the words of a path and type whose values have the given order relation to a value. */
export function wordRange(
  path: string,
  op: OrderOperator,
  value: string | number,
): Readonly<Partial<Record<OrderOperator, string>>> {
  const [type, next, form] =
    typeof value === 'string'
      ? (['s', 't', value.slice(0, comparedUnits)] as const)
      : (['n', 'o', sortable(value)] as const);
  const prefix = prefixOf(path, type);
  const isAbove = op === 'gt' || op === 'gte';
  return isAbove ? { [op]: prefix + form, lt: prefixOf(path, next) } : { gte: prefix, [op]: prefix + form };
}

/** The pattern of the words whose string contains the value. */
export function wordPattern(path: string, value: string): string {
  return `${prefixOf(path, 's')}*${value.replaceAll(/[\\*?]/g, '\\$&')}*`;
}

function orderedWords(path: string, value: AttributeValue): readonly string[] {
  return typeof value === 'string' ? [`${prefixOf(path, 's')}${value.slice(0, comparedUnits)}`] : [];
}

function prefixOf(path: string, letter: string): string {
  return `${hashOf(path).slice(0, 22)}${letter}`;
}

/** Sixteen hexadecimal digits in the order of the numbers; -0 is 0. */
function sortable(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value + 0);
  const bits = bytes.readBigUInt64BE();
  const flipped = bits >> 63n === 1n ? ~bits & 0xffff_ffff_ffff_ffffn : bits | (1n << 63n);
  return flipped.toString(16).padStart(16, '0');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
