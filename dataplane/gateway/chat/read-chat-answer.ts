import {
  type CountedTree,
  JsonError,
  type JsonNode,
  type JsonValue,
  member,
  nodeValue,
  parseCountedTree,
} from '#kit/json/parse-strict';
import { hasDisguisedCallKey } from './call-keys.ts';
import { textOfParts } from './content-parts.ts';
import { isDisguised } from './fold-key.ts';
import { answerTextKeys, callMembers } from './known-keys.ts';
import { maxJsonValues } from './read-envelope.ts';

type ObjectNode = JsonNode & { readonly kind: 'object' };

/** The texts of one answer that are checked, and the parts of the answer from which a masked answer is made. */
export type ChatAnswer = {
  readonly root: ObjectNode;
  readonly choice: ObjectNode;
  readonly message: ObjectNode;
  readonly content: string | undefined;
  readonly refusal: string | undefined;
  /** Number of JSON values in the answer. */
  readonly values: number;
};

const rootKeys: ReadonlySet<string> = new Set(['choices', 'error']);
const choiceKeys: ReadonlySet<string> = new Set(['index', 'message', 'delta', 'text']);
const messageKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'audio', ...answerTextKeys]);

/**
 * Reads the whole answer of a provider strictly: exactly one choice, of index 0, whose text is in `content` and
 * `refusal` only. The content may be a list of parts.
 * @returns undefined for any other answer
 */
export function readChatAnswer(bytes: Uint8Array): ChatAnswer | undefined {
  const parsed = parseAnswer(bytes);
  if (parsed === undefined) return undefined;
  const { root, values } = parsed;
  if (root.kind !== 'object' || hasDisguised(root, rootKeys) || isPresent(member(root, 'error'))) return undefined;
  const choices = member(root, 'choices');
  if (choices?.kind !== 'array' || choices.items.length !== 1) return undefined;
  const [choice] = choices.items;
  if (choice?.kind !== 'object' || hasDisguised(choice, choiceKeys)) return undefined;
  const index = member(choice, 'index');
  if (index?.kind !== 'number' || index.value !== 0) return undefined;
  if (isPresent(member(choice, 'delta')) || isPresent(member(choice, 'text'))) return undefined;
  const message = member(choice, 'message');
  if (message?.kind !== 'object' || hasDisguised(message, messageKeys)) return undefined;
  if (isPresent(member(message, 'audio'))) return undefined;
  if (callMembers.some((key) => hasDisguisedCallKey(callsOf(member(message, key))))) return undefined;
  const content = readText(member(message, 'content'));
  const refusal = member(message, 'refusal');
  if (content === 'invalid' || (isPresent(refusal) && refusal?.kind !== 'string')) return undefined;
  return {
    root,
    choice,
    message,
    content: content.text,
    refusal: refusal?.kind === 'string' ? refusal.value : undefined,
    values,
  };
}

function readText(node: JsonNode | undefined): { readonly text: string | undefined } | 'invalid' {
  if (!isPresent(node)) return { text: undefined };
  if (node?.kind === 'string') return { text: node.value };
  const text = node?.kind === 'array' ? textOfParts(node.items) : undefined;
  return text === undefined ? 'invalid' : { text };
}

function parseAnswer(bytes: Uint8Array): CountedTree | undefined {
  try {
    return parseCountedTree(bytes, { maxValues: maxJsonValues });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function isPresent(node: JsonNode | undefined): boolean {
  return node !== undefined && node.kind !== 'null';
}

function callsOf(node: JsonNode | undefined): JsonValue | undefined {
  return node === undefined ? undefined : nodeValue(node);
}

function hasDisguised(node: ObjectNode, known: ReadonlySet<string>): boolean {
  return node.members.some(({ key }) => isDisguised(key, known));
}
