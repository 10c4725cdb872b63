import { z } from 'zod';
import { codePoints } from './code-points.ts';
import { limits } from './limits.ts';

const message = z.strictObject({
  role: codePoints(limits.role.min, limits.role.max),
  content: codePoints(0, limits.contentSchemaMax),
});
const choice = z.strictObject({ message });

const messagesBody = z.strictObject({ messages: z.array(message).min(1).max(limits.maxMessages.max) });
const choicesBody = z.strictObject({ choices: z.array(choice).min(1).max(limits.maxMessages.max) });

/** The text of a deny (`guardrail:result:reject-body-text`). */
export const denyText = 'Запрос отклонён политикой';

const pass = z.strictObject({ reason: z.literal('policy_pass') });
const reject = z.strictObject({
  body: z.literal(denyText),
  status_code: z.literal(403),
  reason: z.literal('policy_denied'),
});

/** RequestResult (`guardrail:result:request-variants`). */
export const requestResultSchema = z.strictObject({
  action: z.union([pass, reject, z.strictObject({ body: messagesBody, reason: z.literal('content_redacted') })]),
});
/** ResponseResult (`guardrail:result:response-variants`). */
export const responseResultSchema = z.strictObject({
  action: z.union([pass, reject, z.strictObject({ body: choicesBody, reason: z.literal('content_redacted') })]),
});

/** Error body of the runtime (`guardrail:error-body:*`). */
export const checkErrorSchema = z.strictObject({ code: z.string(), message: z.string(), traceId: z.string() });

export type CheckMessage = z.infer<typeof message>;
export type CheckErrorBody = z.infer<typeof checkErrorSchema>;

/**
 * Codes of a failed check with their HTTP status and meaning (`guardrail:errors:*`).
 * A caller tells the cases apart by code; none of them is ever a pass.
 */
export const checkErrors = {
  invalid_json: {
    status: 400,
    meaning: 'The body is not strict JSON in UTF-8, or the request is not HTTP that can be read.',
  },
  unauthenticated: { status: 401, meaning: 'The service token is missing, given twice or wrong.' },
  untrusted_context: { status: 403, meaning: 'A context header is missing, empty, given twice or outside its values.' },
  not_found: { status: 404, meaning: 'The path does not exist.' },
  method_not_allowed: { status: 405, meaning: 'The path exists, the method does not.' },
  body_too_large: { status: 413, meaning: 'The body is over maxBodyBytes.' },
  unsupported_media: { status: 415, meaning: 'The body is not declared as JSON, or Content-Encoding is present.' },
  invalid_payload: { status: 422, meaning: 'The JSON has the wrong shape.' },
  message_limit: { status: 422, meaning: 'There are no messages or more than the limit.' },
  policy_unavailable: {
    status: 503,
    meaning: 'Policy, revision, digest or profile do not match, or no bundle is loaded.',
  },
  overloaded: { status: 503, meaning: 'The concurrency limit is exceeded; there is no queue.' },
  stage_timeout: { status: 503, meaning: 'The stage took longer than its deadline.' },
  rule_timeout: { status: 503, meaning: 'A mandatory rule took longer than its time-out.' },
  provider_unavailable: {
    status: 503,
    meaning: 'The provider of a mandatory rule cannot be reached or answers with an error.',
  },
  provider_invalid_answer: { status: 503, meaning: 'The provider of a mandatory rule answers against its contract.' },
  verdict_undefined: { status: 503, meaning: 'The verdict of a mandatory rule is neither allow nor deny.' },
  verdict_refused: { status: 503, meaning: 'The model of a mandatory classifier refused to judge.' },
  invalid_replacement: { status: 503, meaning: 'Replacements of different rules overlap with different texts.' },
  match_limit: { status: 503, meaning: 'There are more replacements than maxMatches.' },
  output_too_large: { status: 503, meaning: 'The masked body is over maxBodyBytes.' },
  engine_failure: { status: 503, meaning: 'The matching engine could not judge the text.' },
  internal: { status: 503, meaning: 'The check failed for a reason inside of the runtime.' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type CheckErrorCode = keyof typeof checkErrors;
/** Codes that end a check whose request was accepted: all with status 503. */
export type CheckFailureCode = {
  [C in CheckErrorCode]: (typeof checkErrors)[C]['status'] extends 503 ? C : never;
}[CheckErrorCode];
