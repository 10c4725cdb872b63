import { type JsonNode, member } from '#kit/json/parse-tree';

/** A member of a request; null counts as absent, as in the OpenAI API. */
export function given(root: JsonNode, key: string): JsonNode | undefined {
  const node = member(root, key);
  return node === undefined || node.kind === 'null' ? undefined : node;
}

/** @returns undefined when the member of the request is neither a boolean nor absent */
export function readFlag(root: JsonNode, key: string): boolean | undefined {
  const node = given(root, key);
  if (node === undefined) return false;
  return node.kind === 'boolean' ? node.value : undefined;
}
