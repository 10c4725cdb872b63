import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { isDisguised } from '../chat/fold-key.ts';

/** What one data frame of a chat stream is to the check. `content` and `refusal` are empty when it has none. */
export type StreamChunk =
  | { readonly kind: 'done' }
  | { readonly kind: 'chunk'; readonly content: string; readonly refusal: string }
  | { readonly kind: 'invalid' };

const done = Buffer.from('[DONE]');
const rootKeys: ReadonlySet<string> = new Set(['choices', 'error']);
const choiceKeys: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'text']);
const deltaKeys: ReadonlySet<string> = new Set(['content', 'refusal', 'audio']);
const invalid: StreamChunk = { kind: 'invalid' };
const withoutText: StreamChunk = { kind: 'chunk', content: '', refusal: '' };

/**
 * Reads one frame (DESIGN section 8, "Upstream frames"): `[DONE]`, or strict JSON with at most one choice, of index 0.
 * Whatever could carry answer text in another place than `delta.content` and `delta.refusal` is invalid: an error
 * object, a whole message, audio, and keys that equal these only after case folding.
 * A surrogate pair may be cut between two frames, so unpaired halves are left as they are.
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
  return { kind: 'chunk', content, refusal };
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
