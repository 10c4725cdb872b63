import { type CheckMessage, denyText, requestResultSchema, responseResultSchema } from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import { type Decision, type Failed, failed } from '../rules/decision.ts';

/** A result, ready to be sent with HTTP 200. */
export type CheckAnswer = {
  readonly kind: 'answer';
  readonly decision: 'pass' | 'mask' | 'deny';
  readonly bytes: Buffer;
};

const pass = answer('pass', { action: { reason: 'policy_pass' } });
const reject = answer('deny', { action: { body: denyText, status_code: 403, reason: 'policy_denied' } });

function answer(decision: CheckAnswer['decision'], result: unknown): CheckAnswer {
  return { kind: 'answer', decision, bytes: Buffer.from(JSON.stringify(result), 'utf8') };
}

/**
 * The result of a decision (document 1, section 2.3), or the failure that takes its place: a masked body over
 * maxBodyBytes is output_too_large (reading 6), and an answer against the contract is never sent.
 */
export function checkAnswer(
  decision: Decision,
  check: { readonly stage: Stage; readonly messages: readonly CheckMessage[]; readonly maxBodyBytes: number },
): CheckAnswer | Failed {
  switch (decision.kind) {
    case 'pass':
      return pass;
    case 'deny':
      return reject;
    case 'mask':
      return maskAnswer(decision.contents, check);
    case 'failed':
      return decision;
  }
}

function maskAnswer(
  contents: readonly string[],
  check: { readonly stage: Stage; readonly messages: readonly CheckMessage[]; readonly maxBodyBytes: number },
): CheckAnswer | Failed {
  const messages = check.messages.map(({ role }, index) => ({ role, content: contents[index] }));
  const body = check.stage === 'request' ? { messages } : { choices: messages.map((message) => ({ message })) };
  const size = Buffer.byteLength(JSON.stringify(body), 'utf8');
  if (size > check.maxBodyBytes) return failed('output_too_large');
  const result = { action: { body, reason: 'content_redacted' } };
  const schema = check.stage === 'request' ? requestResultSchema : responseResultSchema;
  if (contents.length !== check.messages.length || !schema.safeParse(result).success) return failed('internal');
  return answer('mask', result);
}
