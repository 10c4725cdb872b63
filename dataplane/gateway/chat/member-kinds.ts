import type { JsonNode } from '#kit/json/parse-tree';
import type { RequestRefusal } from './parse-result.ts';
import { given } from './read-flag.ts';

/**
 * The members that a request may have, each with the kinds of JSON values that are allowed for it; null counts as
 * absent.
 */
export type MemberKinds = Readonly<Record<string, readonly Exclude<JsonNode['kind'], 'null'>[]>>;

/**
 * Refuses a member whose value has a wrong kind, such as text instead of a number: no check reads it, and a provider
 * would.
 */
export function findWrongKind(root: JsonNode, kinds: MemberKinds): RequestRefusal | undefined {
  for (const [param, allowed] of Object.entries(kinds)) {
    const node = given(root, param);
    if (node !== undefined && node.kind !== 'null' && !allowed.includes(node.kind)) {
      return { code: 'invalid_request', param };
    }
  }
  return undefined;
}
