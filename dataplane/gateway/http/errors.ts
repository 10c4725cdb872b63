import type { CheckFailure, Excess } from '#checks/check-outcome';
import { type ClientError, type ClientErrorCode, clientErrors } from '../relay/client-error.ts';

type ErrorAnswer = {
  readonly status: number;
  /**
   * Whether the answer has `x-should-retry: false`, which tells the official OpenAI clients not to retry; without this
   * header they retry 408, 429 and 5xx.
   */
  readonly final: boolean;
  readonly body: Buffer;
};

/**
 * Failed checks after which a client may retry: the runtime restarts, briefly has another bundle, or was too busy or
 * too slow. After any other failed check a retry would have the same result, or could turn a failed check into a pass.
 */
const transientFailures: ReadonlySet<string> = new Set<CheckFailure>([
  'network',
  'timeout',
  'no_address',
  'overloaded',
  'policy_unavailable',
  'stage_timeout',
  'rule_timeout',
  'provider_unavailable',
]);

/**
 * Errors of an answer that was generated and cannot be sent. A retry pays for another generation, which most probably
 * ends in the same way.
 */
const unsendableAnswers: ReadonlySet<ClientErrorCode> = new Set([
  'upstream_invalid',
  'upstream_too_large',
  'unjudged_answer',
]);

const checkFailedMessage = 'The guardrail check was not completed, so the text is not passed on.';

/** The sentence about a text over a limit: it names the size of the text and the limit. */
function excessSentence(code: string, { count, limit }: Excess): string {
  const unit = code === 'message_limit' ? 'messages' : 'bytes of JSON';
  return `The text has ${count} ${unit}, and at most ${limit} are checked at once, so it is not passed on`;
}

const remedies = {
  conversation: 'send less, or have the binding of this model set longConversations: Split',
  oneText: 'send a shorter text',
  answer: 'ask for a shorter answer or, where the policy allows it, for a stream, which is checked in parts',
} as const;

/**
 * The response to an error. `refusalText` is the message of the route's policy for a denied text. In a stream, its body
 * becomes the data of the last frame (docs/decisions/0003).
 */
export function errorAnswer(error: ClientError, refusalText?: string): ErrorAnswer {
  if (error.kind === 'check_failed') {
    const final = !transientFailures.has(error.code);
    return answer(503, final, {
      message:
        error.excess === undefined
          ? checkFailedMessage
          : `${excessSentence(error.code, error.excess)}: ${remedies.answer}.`,
      type: 'guardrail_error',
      param: null,
      code: error.code,
    });
  }
  if (error.kind === 'too_long') {
    return answer(413, true, {
      message: `${excessSentence(error.code, error.excess)}: ${remedies[error.isOneText ? 'oneText' : 'conversation']}.`,
      type: 'invalid_request_error',
      param: null,
      code: error.code,
    });
  }
  const { status, type, message } = clientErrors[error.code];
  const isDenied = error.code === 'policy_denied';
  return answer(status, isDenied || unsendableAnswers.has(error.code), {
    message: isDenied ? (refusalText ?? message) : withMember(error.code, message, error.param),
    type,
    param: error.param ?? null,
    code: error.code,
  });
}

/** Errors about the name of a member: many clients show the message only, and its reader has to find the member. */
const naming: ReadonlySet<ClientErrorCode> = new Set(['unknown_key', 'ambiguous_key']);

/** The message with the place of the member, if the name is plain. */
function withMember(code: ClientErrorCode, message: string, param: string | null | undefined): string {
  if (!naming.has(code) || typeof param !== 'string' || param === '(root)') return message;
  return `${message.replace(/\.$/, '')}: ${param}.`;
}

function answer(
  status: number,
  final: boolean,
  error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string },
): ErrorAnswer {
  return { status, final, body: Buffer.from(JSON.stringify({ error }), 'utf8') };
}
