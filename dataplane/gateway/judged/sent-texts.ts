import { type JsonNode, member, parseTree } from '#kit/json/parse-tree';
import { writtenAt } from './collect-texts.ts';
import { isServiceText, isServiceValue } from './service-value.ts';

/**
 * Whether a member of an answer only repeats the member of the same name in the request: each of its strings, keys and numbers
 * is one of that member, or has the strict form of the API. A provider adds members with their default values.
 * @param bytes from which the value was parsed
 */
export type IsSent = (key: string, value: JsonNode, bytes: Uint8Array) => boolean;

/** @param body the request as it was sent to the provider: strict JSON; it is read when an answer first repeats a member */
export function sentTexts(body: Uint8Array): IsSent {
  const known = new Map<string, ReadonlySet<string>>();
  let root: JsonNode | undefined;
  const textsOf = (key: string): ReadonlySet<string> => {
    const read = known.get(key);
    if (read !== undefined) return read;
    root ??= parseTree(body);
    const value = member(root, key);
    const texts = new Set(value === undefined ? [] : textsBelow(value, body));
    known.set(key, texts);
    return texts;
  };
  return (key, value, bytes) => {
    if (isServiceValue(value)) return true;
    const texts = textsOf(key);
    return textsBelow(value, bytes).every((text) => texts.has(text));
  };
}

/** The strings, keys and numbers of a value that do not have the strict form of the API. */
function textsBelow(node: JsonNode, bytes: Uint8Array): readonly string[] {
  switch (node.kind) {
    case 'string':
      return isServiceValue(node) ? [] : [node.value];
    case 'number':
      return isServiceValue(node) ? [] : [writtenAt(bytes, node)];
    case 'array':
      return node.items.flatMap((item) => textsBelow(item, bytes));
    case 'object':
      return node.members.flatMap(({ key, value }) => [
        ...(isServiceText(key) ? [] : [key]),
        ...textsBelow(value, bytes),
      ]);
    case 'boolean':
    case 'null':
      return [];
  }
}
