import type { StorageGuard } from '#checks/guard/storage-guard';
import type { JsonValue } from '#kit/json/json-value';
import { mapStrings } from '#kit/json/map-strings';

/** The guard of every stored text, or the explicit choice to have no guard. */
export type MemoryGuard = StorageGuard | 'unguarded';

/**
 * Why a text is not stored. No message contains a text.
 * - `denied`: the policy denies it
 * - `unjudgeable`: no later attempt can judge it, or its masked form cannot be stored
 * - `unavailable`: no decision is possible now
 */
type StoredFaultCode = 'denied' | 'unjudgeable' | 'unavailable';

/** The guardrail did not allow a text to be stored. */
export class StoredTextError extends Error {
  readonly code: StoredFaultCode;

  constructor(code: StoredFaultCode, message: string) {
    super(message);
    this.name = 'StoredTextError';
    this.code = code;
  }
}

/**
 * The texts in the form in which they may be stored: masked if the policy masks them (docs/design/memory.md, The
 * guardrail).
 * @throws StoredTextError; the reason of the signal when it is aborted
 */
async function guardStoredTexts(
  guard: MemoryGuard,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (guard === 'unguarded' || texts.length === 0) return texts;
  const decision = await guard.judge(texts, signal);
  switch (decision.kind) {
    case 'passed':
      // PostgreSQL stores neither U+0000 nor half of a surrogate pair.
      return decision.texts.map((text) => text.toWellFormed().replaceAll('\0', '\uFFFD'));
    case 'denied':
      throw new StoredTextError('denied', 'the policy for memories denies the text');
    case 'unjudgeable':
      throw new StoredTextError('unjudgeable', decision.problem);
    case 'failed':
      throw new StoredTextError('unavailable', `the guardrail gave no decision: ${decision.code}`);
  }
}

/**
 * The texts of memories in the form in which they may be stored. A masked text must not become blank, because a memory
 * without a text would hide that something is missing.
 * @throws StoredTextError
 */
export async function guardMemoryTexts(
  guard: MemoryGuard,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const judged = await guardStoredTexts(guard, texts, signal);
  if (judged.some((text, at) => text.trim() === '' && texts[at]?.trim() !== '')) {
    throw new StoredTextError(
      'unjudgeable',
      'the masks of the policy leave a text blank: change the policy or the text',
    );
  }
  return judged;
}

/**
 * A JSON value in the form in which it may be stored: every string and every name of a member is judged.
 * @throws StoredTextError, including masks that make two names equal, because a member would be lost
 */
export async function guardValue<T extends JsonValue>(guard: MemoryGuard, value: T, signal: AbortSignal): Promise<T> {
  if (guard === 'unguarded') return value;
  const texts = stringsOf(value);
  const judged = await guardStoredTexts(guard, texts, signal);
  let at = 0;
  const masked = mapStrings(value, () => judged[at++] as string);
  if (stringsOf(masked).length !== texts.length) {
    throw new StoredTextError(
      'unjudgeable',
      'masks make two names of one object equal: change the policy or the names',
    );
  }
  return masked as T;
}

function stringsOf(value: JsonValue): readonly string[] {
  const texts: string[] = [];
  mapStrings(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}
