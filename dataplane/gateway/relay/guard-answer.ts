import { failureOf } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { maskChatAnswer } from '../chat/mask-chat-answer.ts';
import { type ChatAnswer, readChatAnswer } from '../chat/read-chat-answer.ts';
import { type ClientError, plainError, unreadableMask } from './client-error.ts';

/** The decision about a whole provider answer. */
type AnswerVerdict =
  | { readonly kind: 'pass' | 'mask'; readonly bytes: Uint8Array }
  | { readonly kind: 'stop'; readonly error: ClientError; readonly stage: 'none' | 'response' };

type TextField = 'content' | 'refusal';

const role = 'assistant';

/**
 * Judges a whole provider answer: content and refusal go into one check, and a field without text is left out. An
 * answer that passes is sent byte for byte. Rejects only with the reason of the signal.
 */
export async function guardAnswer(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  answer: { readonly bytes: Uint8Array; readonly structured: boolean },
  signal: AbortSignal,
): Promise<AnswerVerdict> {
  const read = readChatAnswer(answer.bytes);
  if (read === undefined) return { kind: 'stop', error: plainError('upstream_invalid'), stage: 'none' };
  const table = textsOf(read);
  if (table.length === 0) return { kind: 'pass', bytes: answer.bytes };
  const messages = table.map(([, content]) => ({ role, content }));
  const outcome = await checks.check(target, 'response', messages, { mode: 'buffered', signal });
  if (signal.aborted) throw signal.reason;
  switch (outcome.kind) {
    case 'pass':
      return { kind: 'pass', bytes: answer.bytes };
    case 'deny':
      return stop(plainError('policy_denied'));
    case 'failed':
      return stop({ kind: 'check_failed', ...failureOf(outcome) });
    case 'mask': {
      const cleaned = new Map(table.map(([field], position) => [field, outcome.contents[position]]));
      const texts = {
        content: cleaned.get('content') ?? read.content,
        refusal: cleaned.get('refusal') ?? read.refusal,
      };
      const bytes = maskChatAnswer(answer.bytes, read, texts, answer.structured);
      if (bytes === undefined) return stop({ kind: 'check_failed', code: unreadableMask });
      return { kind: 'mask', bytes };
    }
  }
}

function stop(error: ClientError): AnswerVerdict {
  return { kind: 'stop', error, stage: 'response' };
}

/** Maps the position of a check message to the field of the answer that it was read from. */
function textsOf(answer: ChatAnswer): readonly (readonly [TextField, string])[] {
  const fields = [
    ['content', answer.content ?? ''],
    ['refusal', answer.refusal ?? ''],
  ] as const;
  return fields.filter(([, text]) => text !== '');
}
