import type { CheckErrorCode, CheckMessage } from '#contracts/checks';
import { limits } from '#contracts/limits';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import type { Gate, PendingCheck } from './pending-check.ts';

/** maxBodyBytes of the bundle, before any limit on characters (`guardrail:request-body:content-body-limit-first`). */
function bodySize({ bytes, bundle }: PendingCheck): CheckErrorCode | undefined {
  if (bytes === undefined || bundle === undefined) return 'internal';
  return bytes.length > bundle.limits.maxBodyBytes ? 'body_too_large' : undefined;
}

/** Strict JSON of the right shape, then its count (`guardrail:errors:invalid-json-strict-parsing`). */
function strictBody(check: PendingCheck): CheckErrorCode | undefined {
  const { bytes, bundle, stage } = check;
  if (bytes === undefined || bundle === undefined) return 'internal';
  let value: JsonValue;
  try {
    value = parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) return 'invalid_json';
    throw error;
  }
  const messages = stage === 'request' ? readMessages(value) : readChoices(value);
  if (messages === undefined) return 'invalid_payload';
  if (messages.length < limits.maxMessages.min || messages.length > bundle.limits.maxMessages) return 'message_limit';
  check.messages = messages;
  return undefined;
}

/** Gates on the bytes of the body (docs/design/gates.md). */
export const bodyGates: readonly Gate[] = [bodySize, strictBody];

/**
 * Reads `{"body":{"messages":[{"role","content"}]}}`; no other form is accepted
 * (`guardrail:request-body:body-only-messages`).
 */
function readMessages(value: JsonValue): readonly CheckMessage[] | undefined {
  const items = onlyMember(onlyMember(value, 'body'), 'messages');
  return Array.isArray(items) ? readEach(items, readMessage) : undefined;
}

/**
 * Reads `{"body":{"choices":[{'message':{"role","content"}}]}}`; no other form is accepted
 * (`guardrail:response-body:body-only-choices`).
 */
function readChoices(value: JsonValue): readonly CheckMessage[] | undefined {
  const items = onlyMember(onlyMember(value, 'body'), 'choices');
  return Array.isArray(items) ? readEach(items, (item) => readMessage(onlyMember(item, 'message'))) : undefined;
}

type Reader = (item: JsonValue) => CheckMessage | undefined;

function readEach(items: readonly JsonValue[], read: Reader): readonly CheckMessage[] | undefined {
  const messages: CheckMessage[] = [];
  for (const item of items) {
    const message = read(item);
    if (message === undefined) return undefined;
    messages.push(message);
  }
  return messages;
}

function readMessage(value: JsonValue | undefined): CheckMessage | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { role, content } = value;
  if (typeof role !== 'string' || typeof content !== 'string' || Object.keys(value).length !== 2) return undefined;
  return isRole(role) ? { role, content } : undefined;
}

/** The value of a member that must be the only one of its object. */
function onlyMember(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) && Object.keys(value).length === 1 ? value[key] : undefined;
}

/**
 * Whether a role has 1 to 32 code points (`guardrail:request-body:role-length-1-to-32`); a code point is one or two
 * units of a string.
 */
function isRole(role: string): boolean {
  if (role.length <= limits.role.max) return role.length >= limits.role.min;
  return role.length <= 2 * limits.role.max && [...role].length <= limits.role.max;
}
