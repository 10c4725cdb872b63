import { z } from 'zod';
import { classifierAnswerSchema } from '#contracts/providers';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import type { Question, Verdict } from '../../rules/compiled-section.ts';
import { type ProviderCall, postJson } from './post-json.ts';
import { readDecision } from './read-decision.ts';

/** This number is enough for the longest answer of the schema in any tokenizer. */
const maxCompletionTokens = 64;

/** The strict JSON schema that the profile requests from the model (`bundle:classifier-profile:strict-json-schema`). */
const responseFormat = {
  type: 'json_schema',
  json_schema: {
    name: 'guardrail_decision',
    strict: true,
    schema: {
      type: 'object',
      properties: { decision: { type: 'string', enum: ['allow', 'deny', 'uncertain'] } },
      required: ['decision'],
      additionalProperties: false,
    },
  },
} as const;

/** The members of a chat completion that are read; others contain no decision. */
const completionSchema = z.object({
  choices: z.tuple([
    z.object({
      finish_reason: z.string(),
      message: z.object({
        content: z.string().nullish(),
        refusal: z.string().nullish(),
        tool_calls: z.array(z.unknown()).max(0).nullish(),
      }),
    }),
  ]),
});

/**
 * Calls a classifier under the profile generic.chat-completions.classifier/v1 (`bundle:classifier-profile:*`): the
 * instruction as system message, the messages as JSON data in a user message, so that no text of them can act as an
 * instruction.
 */
export function createClassifier(
  call: ProviderCall,
  options: { readonly model: string; readonly instruction: string },
): (question: Question, signal: AbortSignal) => Promise<Verdict> {
  return async (question, signal) => {
    const data = {
      stage: question.stage,
      messages: question.messages.map(({ role, content }) => ({ role, content })),
    };
    const body = {
      model: options.model,
      messages: [
        { role: 'system', content: options.instruction },
        { role: 'user', content: JSON.stringify(data) },
      ],
      temperature: 0,
      max_completion_tokens: maxCompletionTokens,
      stream: false,
      store: false,
      response_format: responseFormat,
    };
    const answer = await postJson(call, body, signal);
    return answer.ok ? readCompletion(answer.value) : answer.verdict;
  };
}

/** The verdict in a chat completion: refused, truncated, or exactly one decision in its content. */
function readCompletion(value: JsonValue): Verdict {
  const completion = completionSchema.safeParse(value);
  if (!completion.success) return { kind: 'failed', code: 'provider_invalid_answer' };
  const [{ finish_reason: finish, message }] = completion.data.choices;
  if ((message.refusal ?? '') !== '' || finish === 'content_filter') {
    return { kind: 'failed', code: 'verdict_refused' };
  }
  if (finish !== 'stop' || typeof message.content !== 'string') {
    return { kind: 'failed', code: 'provider_invalid_answer' };
  }
  try {
    return readDecision(classifierAnswerSchema, parseStrict(Buffer.from(message.content, 'utf8')));
  } catch (error) {
    if (error instanceof JsonError) return { kind: 'failed', code: 'provider_invalid_answer' };
    throw error;
  }
}
