import { type JsonNode, parseTree } from '#kit/json/parse-tree';
import { textMemory } from '../chat/text-bounds.ts';
import { writtenAt } from './collect-texts.ts';
import { isServiceText, isServiceValue } from './service-value.ts';

/** The texts of a request that an answer may repeat: a provider adds members of the request, with their default values. */
export type SentTexts = {
  /**
   * Whether a member of an answer only repeats the member of the same name in the request: each of its strings, keys
   * and numbers occurs in that member, or has the strict form of an API value.
   * @param bytes the bytes from which the value was parsed
   */
  has(key: string, value: JsonNode, bytes: Uint8Array): boolean;
  /** Memory of the texts that are kept, bytes. */
  readonly heldBytes: number;
};

/** Members with the conversation, which no answer repeats. */
const conversations: ReadonlySet<string> = new Set(['input', 'messages']);

/**
 * @param body the request as it was sent to the provider: strict JSON. It is parsed when an answer first has a text at
 * such a member, and its tree is not kept
 */
export function sentTexts(body: Uint8Array): SentTexts {
  let known: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  let heldBytes = 0;
  const read = (): ReadonlyMap<string, ReadonlySet<string>> => {
    const texts = textsOf(body);
    heldBytes = textMemory([...texts.values()].flatMap((set) => [...set]));
    return texts;
  };
  return {
    has(key, value, bytes) {
      if (isServiceValue(value)) return true;
      known ??= read();
      const texts = known.get(key);
      return textsBelow(value, bytes).every((text) => texts?.has(text) === true);
    },
    get heldBytes() {
      return heldBytes;
    },
  };
}

function textsOf(body: Uint8Array): ReadonlyMap<string, ReadonlySet<string>> {
  const root = parseTree(body);
  const members = root.kind === 'object' ? root.members.filter(({ key }) => !conversations.has(key)) : [];
  return new Map(members.map(({ key, value }) => [key, new Set(textsBelow(value, body))]));
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
