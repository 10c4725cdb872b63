import type { JsonNode } from '#kit/json/parse-tree';
import type { ChatAnswer } from './read-chat-answer.ts';

/** Members that cannot repeat a masked text; whatever else an answer holds is left out of a masked one. */
const keptOfRoot = ['id', 'object', 'created', 'model', 'usage', 'system_fingerprint', 'service_tier'] as const;
const keptOfChoice = ['index', 'finish_reason'] as const;
const keptOfMessage = ['role', 'tool_calls', 'function_call'] as const;

/** The texts of an answer after a mask; undefined where the answer had none. */
export type CleanedTexts = { readonly content: string | undefined; readonly refusal: string | undefined };

/**
 * The answer with its texts cleaned (DESIGN section 8, "Output"). What is kept is copied byte for byte.
 * @returns undefined when a structured answer that could be read no longer can
 */
export function maskChatAnswer(
  body: Uint8Array,
  answer: ChatAnswer,
  cleaned: CleanedTexts,
  structured: boolean,
): Buffer | undefined {
  if (structured && isJson(answer.content) && !isJson(cleaned.content)) return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const message = [
    ...keep(bytes, answer.message, keptOfMessage),
    ...text(answer.message, 'content', cleaned.content),
    ...text(answer.message, 'refusal', cleaned.refusal),
  ];
  const choice = [...keep(bytes, answer.choice, keptOfChoice), `"message":{${message.join(',')}}`];
  const root = [...keep(bytes, answer.root, keptOfRoot), `"choices":[{${choice.join(',')}}]`];
  return Buffer.from(`{${root.join(',')}}`, 'utf8');
}

function keep(bytes: Buffer, node: JsonNode, keys: readonly string[]): string[] {
  if (node.kind !== 'object') return [];
  return node.members
    .filter(({ key }) => keys.includes(key))
    .map(({ key, value }) => `${JSON.stringify(key)}:${bytes.toString('utf8', value.start, value.end)}`);
}

function text(message: JsonNode, key: 'content' | 'refusal', cleaned: string | undefined): string[] {
  const there = message.kind === 'object' && message.members.some((one) => one.key === key);
  return there ? [`"${key}":${JSON.stringify(cleaned ?? null)}`] : [];
}

function isJson(content: string | undefined): boolean {
  if (content === undefined) return false;
  try {
    JSON.parse(content);
    return true;
  } catch {
    return false;
  }
}
