import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { isDisguised } from '../chat/fold-key.ts';

/**
 * The content of one data frame of a chat stream. `content` and `refusal` are empty when the frame has none.
 * `overtakes`: the frame has neither text nor a finish reason, for example a delta of a tool call, so a client reads
 * the same answer when the frame is sent before held text.
 */
type StreamChunk =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'chunk';
      readonly content: string;
      readonly refusal: string;
      readonly overtakes: boolean;
    }
  | { readonly kind: 'invalid' };

const done = Buffer.from('[DONE]');
const rootKeys: ReadonlySet<string> = new Set(['choices', 'error']);
const choiceKeys: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'text']);
const deltaKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'audio']);
const invalid: StreamChunk = { kind: 'invalid' };
const withoutText: StreamChunk = { kind: 'chunk', content: '', refusal: '', overtakes: false };

/**
 * Reads one frame: `[DONE]`, or strict JSON with at most one choice, of index 0.
 * A frame that could carry answer text outside `delta.content` and `delta.refusal` is invalid: an error object, a whole
 * message, audio, and keys that equal a known one only after case folding (docs/design/streaming.md, "Frames").
 * A surrogate pair may be cut between two frames, so unpaired halves are kept.
 */
export function readChunk(data: Buffer): StreamChunk {
  if (data.equals(done)) return { kind: 'done' };
  const root = parseChunk(data);
  if (!isObject(root) || hasDisguised(root, rootKeys) || isPresent(root['error'])) return invalid;
  const { choices } = root;
  if (!Array.isArray(choices) || choices.length > 1) return invalid;
  return choices.length === 0 ? withoutText : readChoice(choices[0]);
}

function readChoice(choice: JsonValue | undefined): StreamChunk {
  if (!isObject(choice) || hasDisguised(choice, choiceKeys) || choice['index'] !== 0) return invalid;
  if (isPresent(choice['message']) || isPresent(choice['text'])) return invalid;
  const { delta } = choice;
  if (delta === undefined) return withoutText;
  if (!isObject(delta) || hasDisguised(delta, deltaKeys) || isPresent(delta['audio'])) return invalid;
  const content = delta['content'] ?? '';
  const refusal = delta['refusal'] ?? '';
  if (typeof content !== 'string' || typeof refusal !== 'string') return invalid;
  const overtakes = content === '' && refusal === '' && !isPresent(choice['finish_reason']);
  return { kind: 'chunk', content, refusal, overtakes };
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

function hasDisguised(object: { [key: string]: JsonValue }, known: ReadonlySet<string>): boolean {
  return Object.keys(object).some((key) => isDisguised(key, known));
}
