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

const failure = <const S extends number>(status: S, meaning: string) => ({ status, meaning }) as const;

/**
 * Codes of a failed check with their HTTP status and meaning (`guardrail:errors:*`). A caller distinguishes these
 * failures by code; none of them counts as a pass.
 */
export const checkErrors = {
  invalid_json: failure(400, 'The body is not strict JSON in UTF-8, or the request is not HTTP that can be read.'),
  unauthenticated: failure(401, 'The service token is missing, given twice or wrong.'),
  untrusted_context: failure(403, 'A context header is missing, empty, given twice or outside its values.'),
  not_found: failure(404, 'The path does not exist.'),
  method_not_allowed: failure(405, 'The path exists, the method does not.'),
  body_too_large: failure(413, 'The body is over maxBodyBytes.'),
  unsupported_media: failure(415, 'The body is not declared as JSON, or Content-Encoding is present.'),
  invalid_payload: failure(422, 'The JSON has the wrong shape.'),
  message_limit: failure(422, 'There are no messages or more than the limit.'),
  policy_unavailable: failure(503, 'Policy, revision, digest or profile do not match, or no bundle is loaded.'),
  overloaded: failure(503, 'The concurrency limit is exceeded; there is no queue.'),
  stage_timeout: failure(503, 'The stage took longer than its deadline.'),
  rule_timeout: failure(503, 'A mandatory rule took longer than its time-out.'),
  provider_unavailable: failure(503, 'The provider of a mandatory rule cannot be reached or answers with an error.'),
  provider_invalid_answer: failure(503, 'The provider of a mandatory rule answers against its contract.'),
  verdict_undefined: failure(503, 'The verdict of a mandatory rule is neither allow nor deny.'),
  verdict_refused: failure(503, 'The model of a mandatory classifier refused to judge.'),
  invalid_replacement: failure(503, 'Replacements of different rules overlap with different texts.'),
  match_limit: failure(503, 'There are more replacements than maxMatches.'),
  output_too_large: failure(503, 'The masked body is over maxBodyBytes.'),
  engine_failure: failure(503, 'The matching engine could not judge the text.'),
  internal: failure(503, 'The check failed for a reason inside of the runtime.'),
};

export type CheckErrorCode = keyof typeof checkErrors;
/** Codes that end a check whose request was accepted: all with status 503. */
export type CheckFailureCode = {
  [C in CheckErrorCode]: (typeof checkErrors)[C]['status'] extends 503 ? C : never;
}[CheckErrorCode];
