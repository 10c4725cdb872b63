import type { JsonNode } from '#kit/json/parse-tree';
import { type Edit, splice } from '#kit/json/splice';
import type { ChatAnswer } from './read-chat-answer.ts';

type ObjectNode = JsonNode & { readonly kind: 'object' };

/**
 * Members that a masked answer keeps whatever their values are: service fields, tool calls and attachments
 * (`gateway:extract:service-fields-preserved`, `gateway:extract:attachments-preserved`). Every other member is kept
 * only when its value is null, a boolean or empty. So the following members are dropped, because they can repeat the
 * masked text: logprobs, annotations, reasoning, and members that the API does not document
 * (docs/connect-a-provider.md, "Masked answers").
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

/**
 * The texts of an answer after masking; undefined for a text that the answer did not have. `edits` mask texts in other
 * members, which are judged if the binding names them in `judge`; `judgedMembers` are members of the message that are
 * kept because they were judged.
 */
type CleanedTexts = {
  readonly content: string | undefined;
  readonly refusal: string | undefined;
  readonly edits: readonly Edit[];
  readonly judgedMembers: ReadonlySet<string>;
};

/**
 * The answer with its texts masked (`gateway:output:mask-non-stream`). Kept members are copied byte for byte.
 * @returns undefined when the request required JSON and the text of the provider was JSON, but the masked text is not
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
  const source = { bytes, edits: cleaned.edits };
  const newMessage = rewrite(source, message, keptOfMessage.union(cleaned.judgedMembers), texts);
  const newChoice = rewrite(source, choice, keptOfChoice, { message: newMessage });
  return Buffer.from(rewrite(source, root, keptOfRoot, { choices: `[${newChoice}]` }), 'utf8');
}

type Source = { readonly bytes: Buffer; readonly edits: readonly Edit[] };

/** The bytes of a value with the edits inside of it. */
function copy({ bytes, edits }: Source, { start, end }: JsonNode): string {
  const inside = edits.filter((edit) => edit.start >= start && edit.end <= end);
  const moved = inside.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
  return Buffer.from(splice(bytes.subarray(start, end), moved)).toString('utf8');
}

function rewrite(
  source: Source,
  node: ObjectNode,
  kept: ReadonlySet<string>,
  replaced: Readonly<Record<string, string>>,
): string {
  const members = node.members.flatMap(({ key, value }) => {
    const replacement = Object.hasOwn(replaced, key) ? replaced[key] : undefined;
    if (replacement === undefined && !kept.has(key) && !isEmpty(value)) return [];
    return [`${JSON.stringify(key)}:${replacement ?? copy(source, value)}`];
  });
  return `{${members.join(',')}}`;
}

/** Whether a JSON value cannot contain text. A number can: it may repeat digits that were masked. */
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
