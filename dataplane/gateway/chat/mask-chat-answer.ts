import type { JsonNode } from '#kit/json/parse-tree';
import type { ChatAnswer } from './read-chat-answer.ts';

type ObjectNode = JsonNode & { readonly kind: 'object' };

/**
 * Members that a masked answer keeps whatever they hold: service fields, tool calls and attachments
 * (`gateway:extract:service-fields-preserved`, `gateway:extract:attachments-preserved`). Every other member is kept only
 * when its value is null, a boolean or empty. So these are dropped, because they can repeat the masked text: logprobs,
 * annotations, reasoning, and members that the API does not document (docs/connect-a-provider.md, "Masked answers").
 */
const keptOfRoot: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'usage',
  'system_fingerprint',
  'service_tier',
  'metadata',
  'moderation',
]);
const keptOfChoice: ReadonlySet<string> = new Set(['index', 'finish_reason']);
const keptOfMessage: ReadonlySet<string> = new Set(['role', 'tool_calls', 'function_call', 'images']);

/** The texts of an answer after masking; undefined for a text that the answer did not have. */
type CleanedTexts = { readonly content: string | undefined; readonly refusal: string | undefined };

/**
 * The answer with its texts masked (`gateway:output:mask-non-stream`). Members that are kept are copied byte for byte.
 * @returns undefined when the request asked for JSON, the provider's text was JSON, and the masked text is not
 */
export function maskChatAnswer(
  body: Uint8Array,
  { root, choice, message, content }: ChatAnswer,
  cleaned: CleanedTexts,
  structured: boolean,
): Buffer | undefined {
  if (structured && isJson(content) && !isJson(cleaned.content)) return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const texts = { content: JSON.stringify(cleaned.content ?? null), refusal: JSON.stringify(cleaned.refusal ?? null) };
  const newMessage = rewrite(bytes, message, keptOfMessage, texts);
  const newChoice = rewrite(bytes, choice, keptOfChoice, { message: newMessage });
  return Buffer.from(rewrite(bytes, root, keptOfRoot, { choices: `[${newChoice}]` }), 'utf8');
}

function rewrite(
  bytes: Buffer,
  node: ObjectNode,
  kept: ReadonlySet<string>,
  replaced: Readonly<Record<string, string>>,
): string {
  const members = node.members.flatMap(({ key, value }) => {
    const replacement = Object.hasOwn(replaced, key) ? replaced[key] : undefined;
    if (replacement === undefined && !kept.has(key) && !isEmpty(value)) return [];
    return [`${JSON.stringify(key)}:${replacement ?? bytes.toString('utf8', value.start, value.end)}`];
  });
  return `{${members.join(',')}}`;
}

/** Whether a JSON value cannot hold text. Numbers do not qualify: a number can repeat digits that were masked. */
function isEmpty(node: JsonNode): boolean {
  switch (node.kind) {
    case 'null':
    case 'boolean':
      return true;
    case 'number':
    case 'string':
      return false;
    case 'array':
      return node.items.length === 0;
    case 'object':
      return node.members.length === 0;
  }
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
