import { type CheckMessage, denyText } from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import { type Decision, type Failed, failed, type Masked } from '../rules/decision.ts';

/** A result, ready to be sent with HTTP 200. */
export type CheckAnswer = {
  readonly kind: 'answer';
  readonly decision: 'pass' | 'mask' | 'deny';
  /** The result as JSON. */
  readonly text: string;
  /** Length of the response body in bytes of UTF-8. */
  readonly bytes: number;
};

const pass = answer('pass', { action: { reason: 'policy_pass' } });
const reject = answer('deny', { action: { body: denyText, status_code: 403, reason: 'policy_denied' } });

function answer(decision: CheckAnswer['decision'], result: unknown): CheckAnswer {
  const text = JSON.stringify(result);
  return { kind: 'answer', decision, text, bytes: Buffer.byteLength(text, 'utf8') };
}

/** The checked messages and the limit of the answer. */
type Checked = {
  readonly stage: Stage;
  readonly messages: readonly CheckMessage[];
  /** The JSON text that the messages were read from; absent if they were not read from JSON. */
  readonly source?: Buffer;
  readonly maxBodyBytes: number;
};

/**
 * The result of a decision (`guardrail:result:*`), or the failure that takes its place: a masked body over
 * maxBodyBytes is output_too_large, and an answer against the contract is never sent.
 */
export function checkAnswer(decision: Decision, check: Checked): CheckAnswer | Failed {
  switch (decision.kind) {
    case 'pass':
      return pass;
    case 'deny':
      return reject;
    case 'mask':
      return maskAnswer(decision, check);
    case 'failed':
      return decision;
  }
}

function maskAnswer(decision: Masked, check: Checked): CheckAnswer | Failed {
  const { contents } = decision;
  const { stage, messages, maxBodyBytes } = check;
  const masked = messages.map(({ role }, index) => ({ role, content: contents[index] }));
  if (!keepsMessages(masked, messages) || contents.length !== messages.length) return failed('internal');
  const write = needsNoEscape(decision, check) ? quote : JSON.stringify;
  const list = masked.map(({ role, content = '' }) => `{"role":${write(role)},"content":${write(content)}}`);
  const body =
    stage === 'request'
      ? `{"messages":[${list.join()}]}`
      : `{"choices":[${list.map((message) => `{"message":${message}}`).join()}]}`;
  const bytes = Buffer.byteLength(body, 'utf8');
  if (bytes > maxBodyBytes) return failed('output_too_large');
  const text = `{"action":{"body":${body},"reason":"content_redacted"}}`;
  return { kind: 'answer', decision: 'mask', text, bytes: bytes + text.length - body.length };
}

const BACKSLASH = 0x5c;
/** Characters that must be escaped in a JSON string (RFC 8259, section 7), or that UTF-8 cannot encode. */
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Whether all texts can be written to JSON without escapes: the source has no backslash, and no replacement needs an
 * escape. Searching all texts for characters to escape would take longer than the rest of the answer.
 */
function needsNoEscape({ inserted }: Masked, { source }: Checked): boolean {
  return source !== undefined && !source.includes(BACKSLASH) && !inserted.some((text) => escaped.test(text));
}

function quote(text: string): string {
  return `"${text}"`;
}

/**
 * Whether a masked body has the form that the contract requires for these messages: the same count, order and roles,
 * and every content is a text (`guardrail:mask:keeps-count`). A gateway would read a malformed mask as a pass, so that
 * no other body may be sent.
 */
function keepsMessages(
  masked: readonly { readonly role: string; readonly content: string | undefined }[],
  messages: readonly CheckMessage[],
): boolean {
  if (masked.length !== messages.length) return false;
  return masked.every(({ role, content }, index) => role === messages[index]?.role && typeof content === 'string');
}
