import { z } from 'zod';
import { eventData } from '#kit/http/event-data';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';

/**
 * The reason why an answer is incomplete. A code `guardrail_…` comes from the guardrail, other codes from the provider
 * or the gateway.
 */
export type AnswerFault = {
  readonly kind:
    | 'guardrail_blocked'
    | 'guardrail_error'
    | 'upstream_error'
    | 'timeout'
    | 'not_found'
    | 'unauthenticated'
    | 'other';
  readonly message: string;
};

/** `text` is the complete answer only if `fault` is absent. */
export type ChatReply = { readonly text: string; readonly fault: AnswerFault | undefined };

const errorSchema = z.looseObject({
  error: z.looseObject({ type: z.string(), message: z.string(), code: z.string().nullish() }),
});
const chunkSchema = z.looseObject({
  choices: z.array(
    z.looseObject({ delta: z.looseObject({ content: z.string().nullish(), refusal: z.string().nullish() }) }),
  ),
});
const completionSchema = z.looseObject({
  choices: z.array(
    z.looseObject({ message: z.looseObject({ content: z.string().nullish(), refusal: z.string().nullish() }) }),
  ),
});

/** Reads a buffered answer or an error response. */
export function readBuffered(status: number, body: string): ChatReply {
  const value = jsonOrUndefined(body);
  if (status !== 200) return { text: '', fault: faultOf(value) ?? unreadable(`status ${status}`) };
  const read = completionSchema.safeParse(value);
  if (!read.success) return { text: '', fault: unreadable('an answer that is not a chat completion') };
  const text = read.data.choices.map(({ message }) => `${message.content ?? ''}${message.refusal ?? ''}`).join('');
  return { text, fault: undefined };
}

/**
 * Reads a streamed answer and passes each piece of text on. The answer is complete only after `[DONE]`; an error event,
 * an early end or a broken connection makes it incomplete (gateway:client:marks-incomplete).
 */
export async function readStream(bytes: AsyncIterable<Uint8Array>, onText: (text: string) => void): Promise<ChatReply> {
  let text = '';
  try {
    for await (const data of eventData(bytes)) {
      if (data === '[DONE]') return { text, fault: undefined };
      const value = jsonOrUndefined(data);
      const fault = faultOf(value);
      if (fault !== undefined) return { text, fault };
      const chunk = chunkSchema.safeParse(value);
      if (!chunk.success) return { text, fault: unreadable('a stream event that cannot be read') };
      for (const { delta } of chunk.data.choices) {
        const piece = `${delta.content ?? ''}${delta.refusal ?? ''}`;
        if (piece === '') continue;
        text += piece;
        onText(piece);
      }
    }
  } catch {
    return { text, fault: { kind: 'upstream_error', message: 'the connection broke' } };
  }
  return { text, fault: { kind: 'upstream_error', message: 'the stream ended without [DONE]' } };
}

const otherKinds: Readonly<Record<string, AnswerFault['kind']>> = {
  model_not_found: 'not_found',
  invalid_api_key: 'unauthenticated',
  // The gateway answers 413 for a request that is too long to be checked.
  message_limit: 'guardrail_error',
  body_too_large: 'guardrail_error',
  too_many_checks: 'guardrail_error',
};

function faultOf(value: unknown): AnswerFault | undefined {
  const read = errorSchema.safeParse(value);
  if (!read.success) return undefined;
  const { type, message, code } = read.data.error;
  const detail = code === null || code === undefined || code === type ? message : `${message} (${code})`;
  switch (type) {
    case 'guardrail_blocked':
    case 'guardrail_error':
    case 'upstream_error':
      return { kind: type, message: detail };
    default:
      return { kind: otherKinds[code ?? ''] ?? 'other', message: detail };
  }
}

function unreadable(what: string): AnswerFault {
  return { kind: 'upstream_error', message: `the gateway sent ${what}` };
}
