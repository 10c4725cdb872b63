import {
  type CheckMessage,
  checkErrorSchema,
  checkErrors,
  requestResultSchema,
  responseResultSchema,
} from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import type { ResponseMode } from '#contracts/profiles';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import { type CheckOutcome, type FailedCheck, failedCheck, isCheckErrorCode } from './check-outcome.ts';

/** The answer that nearly every check has, in the bytes in which a runtime writes it. */
const passBytes = Buffer.from(JSON.stringify({ action: { reason: 'policy_pass' } }), 'utf8');

/**
 * The outcome of an answer with status 200 (`client:result:validates-schema`). Technical errors are: an answer that is
 * not exactly one of the results, a mask with a different number, order or role of messages, and a mask in mode
 * `sse-reject`.
 */
export function readResult(
  answer: Uint8Array,
  stage: Stage,
  mode: ResponseMode,
  sent: readonly CheckMessage[],
): CheckOutcome {
  if (passBytes.equals(answer)) return { kind: 'pass' };
  const action = readAction(answer, stage);
  if (action === undefined) return failedCheck('invalid_answer');
  switch (action.reason) {
    case 'policy_pass':
      return { kind: 'pass' };
    case 'policy_denied':
      return { kind: 'deny' };
    case 'content_redacted': {
      if (stage === 'response' && mode === 'sse-reject') return failedCheck('invalid_answer');
      const masked =
        'messages' in action.body ? action.body.messages : action.body.choices.map(({ message }) => message);
      const fits = masked.length === sent.length && masked.every(({ role }, position) => role === sent[position]?.role);
      return fits ? { kind: 'mask', contents: masked.map(({ content }) => content) } : failedCheck('mask_mismatch');
    }
  }
}

/** The failure for an answer with a status other than 200: its code when the body is an error body with that status. */
export function readFailure(status: number, answer: Uint8Array): FailedCheck {
  if (status >= 300 && status < 400) return failedCheck('redirected');
  const error = checkErrorSchema.safeParse(readJson(answer));
  if (!error.success || !isCheckErrorCode(error.data.code)) return failedCheck('unexpected_status');
  const { code } = error.data;
  return failedCheck(checkErrors[code].status === status ? code : 'unexpected_status');
}

function readAction(answer: Uint8Array, stage: Stage) {
  const schema = stage === 'request' ? requestResultSchema : responseResultSchema;
  const result = schema.safeParse(readJson(answer));
  return result.success ? result.data.action : undefined;
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
