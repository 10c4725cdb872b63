import type { JsonValue } from '#kit/json/json-value';
import type { JsonNode } from '#kit/json/parse-tree';
import type { TokenUsage } from './read-usage.ts';

/** Bytes of UTF-8 per token: o200k_base has about this many in English and in Russian prose. */
const bytesPerToken = 4;
/** Base64 data, whose tokens do not follow from its length. Only whole texts match, so that prose after the data is counted. */
const encoded = /^(?:data:[^,\s]{0,128};base64,)?[A-Za-z0-9+/_-]*={0,2}$/;
const shortestEncoded = 1_024;
/** Members that the API sets in every piece of an answer. */
const serviceMembers: ReadonlySet<string> = new Set(['role', 'id', 'type']);

/**
 * Estimates the tokens of a stream whose provider reports none. @param bytes of the texts of its request and of its
 * answer
 */
export function estimateUsage(bytes: { readonly input: number; readonly output: number }): TokenUsage {
  return { input: tokensOf(bytes.input), output: tokensOf(bytes.output), isEstimated: true };
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** The bytes of all texts of a request. Files in base64 are not counted. */
export function requestTextBytes(node: JsonNode): number {
  switch (node.kind) {
    case 'string':
      return isEncoded(node.value) ? 0 : Buffer.byteLength(node.value);
    case 'array':
      return node.items.reduce((sum, item) => sum + requestTextBytes(item), 0);
    case 'object':
      return node.members.reduce((sum, { value }) => sum + requestTextBytes(value), 0);
    default:
      return 0;
  }
}

function isEncoded(value: string): boolean {
  return (value.startsWith('data:') || value.length >= shortestEncoded) && encoded.test(value);
}

/**
 * The bytes of the texts that an event of a stream adds to the answer: the texts of `delta`, in the root or in a
 * choice.
 */
export function eventTextBytes(event: JsonValue): number {
  if (!isObject(event)) return 0;
  const { delta, choices } = event;
  const ofChoices = Array.isArray(choices)
    ? choices.map((choice) => (isObject(choice) ? choice['delta'] : undefined))
    : [];
  return [delta, ...ofChoices].reduce<number>((sum, one) => sum + deltaTextBytes(one), 0);
}

function deltaTextBytes(value: JsonValue | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + deltaTextBytes(item), 0);
  return Object.entries(value).reduce(
    (sum, [key, item]) => (serviceMembers.has(key) ? sum : sum + deltaTextBytes(item)),
    0,
  );
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
