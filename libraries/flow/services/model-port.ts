import { z } from 'zod';
import { type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { PortError } from '../engine/flow-error.ts';
import type { FlowPorts, ModelMessage, PortRequests } from '../engine/ports.ts';
import type { CallerService } from './caller-service.ts';
import { exchangeWithService } from './exchange-with-service.ts';
import { traceHeaders } from './trace-headers.ts';

const count = z.int().min(0).default(0);
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
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
});
const deniedBody = z.object({ error: z.object({ code: z.literal('policy_denied') }) });

/**
 * Calls models through a model gateway, with the chat API of OpenAI. The gateway guards each call by the policy of its
 * model. `/v1/chat/completions` is added to the address.
 */
export function createModelPort({ url, identity }: CallerService): FlowPorts['model'] {
  const endpoint = new URL(`${url.href.replace(/\/+$/, '')}/v1/chat/completions`);
  return async (request, call) => {
    const answer = await exchangeWithService({
      url: endpoint,
      headers: {
        ...traceHeaders(call),
        ...(await identity(call)),
      },
      body: bodyOf(request),
      signal: call.signal,
      forbiddenAs: (body) => (deniedBody.safeParse(body).success ? 'guardrail_denied' : undefined),
    });
    const read = completion.safeParse(answer);
    const choice = read.data?.choices[0];
    if (choice === undefined) throw new PortError('answer_invalid');
    const { message, finish_reason: finishReason } = choice;
    const usage = read.data?.usage;
    const text = message.content ?? '';
    request.onText?.(text);
    return {
      text,
      toolCalls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
        id,
        name,
        arguments: argumentsOf(given),
      })),
      finishReason: finishReason ?? 'stop',
      usage: { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: usage?.completion_tokens ?? 0 },
    };
  };
}

function bodyOf({ model, messages, parameters, responseSchema, tools }: PortRequests['model']): object {
  const { temperature, topP, maxTokens, seed } = parameters;
  const format = { type: 'json_schema', json_schema: { name: 'answer', schema: responseSchema, strict: true } };
  return {
    model,
    messages: messages.map(messageOf),
    max_tokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(responseSchema === undefined ? {} : { response_format: format }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
  };
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
