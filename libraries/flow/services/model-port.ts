import { z } from 'zod';
import { type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { PortError } from '../engine/flow-error.ts';
import type { FlowPorts, ModelMessage, PortRequests } from '../engine/ports.ts';
import { type CallerService, readServiceAnswer } from './caller-service.ts';
import { type Completion, readCompletionStream, usageSchema } from './completion-stream.ts';
import { deniedIf, exchangeWithService, streamFromService } from './exchange-with-service.ts';
import { isStrictSchema } from './is-strict-schema.ts';
import { traceHeaders } from './trace-headers.ts';

const completion = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          tool_calls: z
            .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: usageSchema,
});
type ModelAnswer = Awaited<ReturnType<FlowPorts['model']>>;

const deniedBody = z.object({ error: z.object({ code: z.literal('policy_denied') }) });
/** The refusals of a gateway that serves this model without streams only (docs/design/streaming.md). */
const unstreamedBody = z.object({ error: z.object({ code: z.enum(['unsupported_for_policy', 'streaming_refused']) }) });

/**
 * Calls models through a model gateway, with the chat API of OpenAI. The gateway guards each call by the policy of its
 * model. `/v1/chat/completions` is added to the address. A request with `onText` requires a stream; if the gateway
 * refuses streams of the model, the text arrives as one piece.
 */
export function createModelPort({ url, identity }: CallerService): FlowPorts['model'] {
  const endpoint = new URL(`${url.href.replace(/\/+$/, '')}/v1/chat/completions`);
  return async (request, call) => {
    const ask = {
      url: endpoint,
      headers: {
        ...traceHeaders(call),
        ...(await identity(call)),
      },
      signal: call.signal,
      errorOf: deniedIf(deniedBody),
    } as const;
    const { onText } = request;
    if (onText !== undefined) {
      const readStream = (body: AsyncIterable<Uint8Array>) => readCompletionStream(body, onText);
      const streamed = { ...bodyOf(request), stream: true, stream_options: { include_usage: true } };
      const answer = await streamFromService({ ...ask, body: streamed, readStream });
      if (answer.kind === 'stream') return answerOf(answer.read);
      if (answer.kind === 'json') return wholeAnswer(answer.value, onText);
      if (!unstreamedBody.safeParse(answer.value).success) throw new PortError('refused');
    }
    return wholeAnswer(await exchangeWithService({ ...ask, body: bodyOf(request) }), onText);
  };
}

function wholeAnswer(answer: unknown, onText: PortRequests['model']['onText']): ModelAnswer {
  const { choices, usage } = readServiceAnswer(completion, answer);
  const [choice] = choices;
  if (choice === undefined) throw new PortError('answer_invalid');
  const text = choice.message.content ?? '';
  onText?.(text);
  const toolCalls = (choice.message.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called }));
  return answerOf({ text, toolCalls, finishReason: choice.finish_reason ?? undefined, usage });
}

function answerOf({ text, toolCalls, finishReason, usage }: Completion): ModelAnswer {
  return {
    text,
    toolCalls: toolCalls.map((called) => ({ ...called, arguments: argumentsOf(called.arguments) })),
    finishReason: finishReason ?? 'stop',
    ...(usage == null
      ? {}
      : { usage: { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens } }),
  };
}

function bodyOf({ model, messages, parameters, responseSchema, tools }: PortRequests['model']): object {
  const { temperature, topP, maxTokens, seed } = parameters;
  return {
    model,
    messages: messages.map(messageOf),
    ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(responseSchema === undefined ? {} : { response_format: formatOf(responseSchema) }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
  };
}

/** Without the strict mode the schema is only a hint to the model. The flow checks the answer in both cases. */
function formatOf(schema: JsonValue): object {
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: isStrictSchema(schema) } };
}

function messageOf(message: ModelMessage): object {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
  if (message.role !== 'assistant' || message.toolCalls === undefined) {
    return { role: message.role, content: message.content };
  }
  const calls = message.toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
  return { role: 'assistant', content: message.content, tool_calls: calls };
}

/**
 * Models return arguments as text. Text that is not JSON becomes an argument of another type, which the flow refuses.
 */
function argumentsOf(text: string): JsonValue {
  try {
    return parseStrict(Buffer.from(text));
  } catch {
    return text;
  }
}
