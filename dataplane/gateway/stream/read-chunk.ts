import { JsonError, type JsonNode, type JsonValue, member, parseStrict, parseTree } from '#kit/json/parse-strict';
import { hasDisguisedCallKey } from '../chat/call-keys.ts';
import { textOfParts } from '../chat/content-parts.ts';
import { eventTextBytes } from '../chat/estimate-tokens.ts';
import { isDisguised } from '../chat/fold-key.ts';
import { answerTextKeys, callMembers, reasoningKeys } from '../chat/known-keys.ts';
import { isWithoutFurtherText } from '../judged/answer-texts.ts';
import { collectTexts } from '../judged/collect-texts.ts';

/**
 * The content of one data frame of a chat stream. `content` and `refusal` are empty when the frame has none.
 * `overtakes`: the frame has neither text nor a finish reason, for example a delta of a tool call, so that a client
 * reads the same answer when the frame is sent before held text. `inParts`: the content is a list of parts.
 * `keepsPlace`: the content is a list of parts or the frame has a finish reason (`isFinish`), so that its place among
 * frames with text counts. `joined`: the members with a piece of a call or of a reasoning, which clients join.
 * `isForeign`: the frame has no choices, but text in a member that the API does not set, so that it can be an answer in
 * another form.
 */
type StreamChunk =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'chunk';
      readonly content: string;
      readonly refusal: string;
      readonly overtakes: boolean;
      readonly inParts: boolean;
      readonly keepsPlace: boolean;
      readonly isFinish: boolean;
      readonly joined: readonly string[];
      readonly isForeign: boolean;
      /** Bytes of all texts that the frame adds to the answer. */
      readonly textBytes: number;
    }
  | { readonly kind: 'invalid' };

const done = Buffer.from('[DONE]');
const rootKeys: ReadonlySet<string> = new Set(['choices', 'error']);
const choiceKeys: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'text']);
const deltaKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'audio', ...answerTextKeys]);
const joinedMembers: readonly string[] = [...callMembers, ...reasoningKeys];
const invalid: StreamChunk = { kind: 'invalid' };
const withoutText = {
  kind: 'chunk',
  content: '',
  refusal: '',
  overtakes: false,
  inParts: false,
  keepsPlace: false,
  isFinish: false,
  joined: [],
  isForeign: false,
  textBytes: 0,
} as const satisfies StreamChunk;

/**
 * Reads one frame: `[DONE]`, or strict JSON with at most one choice, of index 0. A frame without `choices`, such as one
 * with the usage, has no text. A frame that could carry answer text outside `delta.content` and `delta.refusal` is
 * invalid: an error object, a whole message, audio, and keys that equal a known key only after case folding
 * (docs/design/streaming.md, "Frames"). A surrogate pair may be split between two frames, so unpaired halves are kept.
 */
export function readChunk(data: Buffer): StreamChunk {
  if (data.equals(done)) return { kind: 'done' };
  const root = parseChunk(data);
  if (!isObject(root) || hasDisguised(root, rootKeys) || isPresent(root['error'])) return invalid;
  const { choices } = root;
  if (!isPresent(choices)) return { ...withoutText, isForeign: hasFurtherText(data) };
  if (!Array.isArray(choices) || choices.length > 1) return invalid;
  if (choices.length === 0) return withoutText;
  const chunk = readChoice(choices[0], data);
  return chunk.kind === 'chunk' ? { ...chunk, textBytes: eventTextBytes(root) } : chunk;
}

function readChoice(choice: JsonValue | undefined, data: Buffer): StreamChunk {
  if (!isObject(choice) || hasDisguised(choice, choiceKeys) || choice['index'] !== 0) return invalid;
  if (isPresent(choice['message']) || isPresent(choice['text'])) return invalid;
  const { delta } = choice;
  // Some servers send an empty finish reason with each frame, which clients ignore.
  const isFinish = isPresent(choice['finish_reason']) && choice['finish_reason'] !== '';
  if (!isPresent(delta)) return { ...withoutText, keepsPlace: isFinish, isFinish };
  if (!isObject(delta) || hasDisguised(delta, deltaKeys) || isPresent(delta['audio'])) return invalid;
  if (callMembers.some((key) => hasDisguisedCallKey(delta[key]))) return invalid;
  const inParts = Array.isArray(delta['content']);
  const content = inParts ? readParts(data) : (delta['content'] ?? '');
  const refusal = delta['refusal'] ?? '';
  if (typeof content !== 'string' || typeof refusal !== 'string') return invalid;
  // Clients keep the order of parts, so that a frame with them keeps its place.
  const keepsPlace = inParts || isFinish;
  const overtakes = !keepsPlace && content === '' && refusal === '';
  const joined = joinedMembers.filter((key) => hasPiece(delta[key]));
  return { ...withoutText, content, refusal, overtakes, inParts, keepsPlace, isFinish, joined };
}

function hasFurtherText(data: Buffer): boolean {
  const root = treeOf(data);
  if (root.kind !== 'object') return false;
  return root.members.some((one) => {
    if (isWithoutFurtherText(one, 'root')) return false;
    return collectTexts(one.value, data, { role: 'assistant', numbers: false }).length > 0;
  });
}

/** The text of the parts in the content of a valid frame. */
function readParts(data: Buffer): string | undefined {
  const choices = member(treeOf(data), 'choices');
  const choice = choices?.kind === 'array' ? choices.items[0] : undefined;
  const delta = choice === undefined ? undefined : member(choice, 'delta');
  const content = delta === undefined ? undefined : member(delta, 'content');
  return content?.kind === 'array' ? textOfParts(content.items) : undefined;
}

/** A valid frame as a tree. */
function treeOf(data: Buffer): JsonNode {
  return parseTree(data, { unpairedSurrogates: 'keep' });
}

function parseChunk(data: Buffer): JsonValue | undefined {
  try {
    return parseStrict(data, { unpairedSurrogates: 'keep' });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function hasPiece(value: JsonValue | undefined): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  return isObject(value);
}

function hasDisguised(object: { [key: string]: JsonValue }, known: ReadonlySet<string>): boolean {
  return Object.keys(object).some((key) => isDisguised(key, known));
}
